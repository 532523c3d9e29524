// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * logs: the logs of segments.
 *
 * A segment in use has logs up to the length in the SUFILE.  Logs that were written
 * after the latest super root, and are in no checkpoint yet, may follow, and logs
 * of an earlier use of the segment.  The former are printed if they continue a
 * segment in use; others are searched block by block, only on request.
 *
 * The header of a log is printed by its field table.  The summary is read once for
 * the list of files and once for that of blocks, so that neither is kept.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/range.h"
#include "disk/superroot.h"
#include "dump/common/fields.h"
#include "dump/common/image.h"
#include "out/table.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"
#include "vol/sutable.h"

struct logs_options {
	bool blocks, verify, stale, brief;
};

static const struct cli_option logs_rows[] = {
	{ 'b', "blocks", NULL, "show every block (as -v does)", OPTION_FLAG,
	  offsetof(struct logs_options, blocks) },
	{ 's', "short", NULL, "show one line for each log", OPTION_FLAG,
	  offsetof(struct logs_options, brief) },
	{ 0, "stale", NULL, "also look for logs that are not in use",
	  OPTION_FLAG, offsetof(struct logs_options, stale) },
	{ 0, "verify", NULL, "also check the checksum of each payload",
	  OPTION_FLAG, offsetof(struct logs_options, verify) },
	{ 0 },
};

/* Which part of a segment a log is in. */
enum logs_state {
	LOGS_CURRENT,	/* the blocks that the SUFILE counts */
	LOGS_NEWER,	/* after them, newer than the latest super root */
	LOGS_STALE,	/* left from an earlier use of the segment */
};

static const char *const state_names[] = {
	[LOGS_CURRENT] = "current",
	[LOGS_NEWER] = "newer",
	[LOGS_STALE] = "stale",
};

static const struct value_flag flag_names[] = {
	{ NILFS_SS_LOGBGN, "logbgn" }, { NILFS_SS_LOGEND, "logend" },
	{ NILFS_SS_SR, "sr" }, { NILFS_SS_SYNDT, "syndt" },
	{ NILFS_SS_GC, "gc" },	{ 0, NULL },
};

enum {
	ROW_SEGMENT, ROW_BLOCK, ROW_SEQ, ROW_CREATED, ROW_BLOCKS, ROW_FILES,
	ROW_NEXT, ROW_CNO, ROW_STATE, ROW_SUMMARY, ROW_PAYLOAD, ROW_FLAGS,
	ROW_COUNT
};

static const struct column row_columns[] = {
	[ROW_SEGMENT] = { "segment", "SEGMENT", VALUE_U64, 7 },
	[ROW_BLOCK] = { "blocknr", "BLOCK", VALUE_U64, 10 },
	[ROW_SEQ] = { "ss_seq", "SEQ", VALUE_U64, 6 },
	[ROW_CREATED] = { "ss_create", "CREATED", VALUE_TIME, 25 },
	[ROW_BLOCKS] = { "ss_nblocks", "BLOCKS", VALUE_U64, 6 },
	[ROW_FILES] = { "ss_nfinfo", "FILES", VALUE_U64, 5 },
	[ROW_NEXT] = { "ss_next", "NEXT", VALUE_U64, 10 },
	[ROW_CNO] = { "ss_cno", "CNO", VALUE_U64, 6 },
	[ROW_STATE] = { "state", "STATE", VALUE_STRING, 7 },
	[ROW_SUMMARY] = { "sumsum_is_right", "SUMSUM", VALUE_BOOL, 6 },
	[ROW_PAYLOAD] = { "datasum_is_right", "DATASUM", VALUE_BOOL, 7 },
	[ROW_FLAGS] = { "ss_flags", "FLAGS", VALUE_FLAGS, 0, flag_names },
};

enum { FILE_INO, FILE_CNO, FILE_BLOCKS, FILE_DATA, FILE_COUNT };

static const struct column file_columns[] = {
	[FILE_INO] = { "fi_ino", "INO", VALUE_U64, 8 },
	[FILE_CNO] = { "fi_cno", "CNO", VALUE_U64, 8 },
	[FILE_BLOCKS] = { "fi_nblocks", "BLOCKS", VALUE_U64, 6 },
	[FILE_DATA] = { "fi_ndatablk", "DATA", VALUE_U64, 6 },
};

enum {
	BLOCK_BLOCKNR, BLOCK_INDEX, BLOCK_INO, BLOCK_OFFSET, BLOCK_VBLOCK,
	BLOCK_LEVEL, BLOCK_KIND, BLOCK_COUNT
};

static const struct column block_columns[] = {
	[BLOCK_BLOCKNR] = { "blocknr", "BLOCK", VALUE_U64, 10 },
	[BLOCK_INDEX] = { "index", "INDEX", VALUE_U64, 5 },
	[BLOCK_INO] = { "ino", "INO", VALUE_U64, 6 },
	[BLOCK_OFFSET] = { "blkoff", "OFFSET", VALUE_U64, 8 },
	[BLOCK_VBLOCK] = { "vblocknr", "VBLOCK", VALUE_U64, 8 },
	[BLOCK_LEVEL] = { "level", "LEVEL", VALUE_U64, 5 },
	[BLOCK_KIND] = { "kind", "KIND", VALUE_STRING, 0 },
};

struct logs {
	struct tool *tool;
	struct volume *vol;
	const struct logs_options *o;
	bool blocks;		/* every block */
	struct table table;	/* of the short form */
	struct summary summary;	/* its buffer is used for log after log */
	uint64_t broken;	/* logs */
};

/* Facts about a log, which are found before it is printed. */
struct log_facts {
	uint64_t segnum;
	enum logs_state state;
	const struct log *log;
	bool readable;			/* the summary was read */
	bool sumsum_right;
	struct value datasum_right;	/* absent unless requested */
};

static void warn_log(struct logs *l)
{
	tool_warn(l->tool, "%s", l->tool->cx.failure);
	fail_clear(&l->tool->cx);
	l->broken++;
}

/* Damage is also printed on standard error, because not every form of output
   shows it. */
static void warn_rule(struct logs *l, const char *what, uint64_t blocknr,
		      enum rule rule)
{
	tool_warn(l->tool, "%s at block %llu: %s", what,
		  (unsigned long long)blocknr, rule_info(rule)->text);
	l->broken++;
}

/* Reads the summary and verifies checksums.  Damage is reported and counted; other
   failures are returned. */
static int find_facts(struct logs *l, struct log_facts *f)
{
	const struct nilfs_geometry *geo = &l->vol->geo;
	struct context *cx = &l->tool->cx;
	const struct log *log = f->log;
	struct segsum_crc crc;
	int err;

	err = summary_read(&l->summary, cx, l->vol, log->pseg, &log->ss);
	if (err == -EUCLEAN)
		warn_log(l);
	else if (err)
		return err;
	f->readable = !err;
	if (f->readable) {
		segsum_crc_init(&crc, SEGSUM_SUMSUM, geo, &log->ss);
		segsum_crc_update(&crc, l->summary.buf,
				  (size_t)segsum_nsumblk(geo, &log->ss)
				  << geo->block_bits);
		f->sumsum_right = segsum_crc_check(&crc, &log->ss) ==
				  RULE_OK;
		if (!f->sumsum_right)
			warn_rule(l, "log", log->pseg, RULE_LOG_SUMSUM);
	}
	if (!l->o->verify)
		return 0;
	err = logcheck_payload(l->vol, cx, log->pseg, &log->ss);
	if (err == -EUCLEAN)
		warn_log(l);
	else if (err)
		return err;
	f->datasum_right = value_bool(!err);
	return 0;
}

/* The super root is the last block and is in no list of the summary. */
static int print_super_root(struct logs *l, const struct log *log)
{
	struct report *r = &l->tool->report;
	uint64_t blocknr = log->pseg + log->nblocks - 1;
	const struct nilfs_super_root *sr;
	const void *block;
	enum rule rule;
	int err;

	err = cache_get(l->vol->cache, &l->tool->cx, blocknr, &block);
	if (err)
		return err;
	sr = block;
	rule = superroot_check(&l->vol->geo, block);
	report_begin(r, "super_root", "Super root");
	report_u64(r, "blocknr", "Block", blocknr);
	report_bool(r, "is_right", "Size and sum are right", rule == RULE_OK);
	report_u64(r, "sr_bytes", "sr_bytes", le16_get(sr->sr_bytes));
	report_value(r, VALUE_HEX, "sr_flags", "sr_flags",
		     value_u64(le16_get(sr->sr_flags)));
	report_time(r, "sr_nongc_ctime", "sr_nongc_ctime",
		    le64_get(sr->sr_nongc_ctime));
	report_end(r);
	cache_put(l->vol->cache, block);
	if (rule != RULE_OK)
		warn_rule(l, "super root", blocknr, rule);
	return 0;
}

static int print_contents(struct logs *l, const struct log *log)
{
	struct summary *s = &l->summary;
	struct segsum_block b;
	struct table t;
	enum rule rule;

	table_begin(&t, &l->tool->report, "files", file_columns,
		    FILE_COUNT);
	while (segsum_iter_next(&s->iter, &b)) {
		if (b.file_block)
			continue;
		table_row(&t, (struct value[FILE_COUNT]){
			[FILE_INO] = value_u64(b.ino),
			[FILE_CNO] = value_u64(b.cno),
			[FILE_BLOCKS] = value_u64(b.file_nblocks),
			[FILE_DATA] = value_u64(b.file_ndatablk),
		});
	}
	table_end(&t);
	rule = s->iter.verdict; /* the reason for the end of the list */
	if (rule != RULE_OK && rule != RULE_LOG_SUMBYTES_UNUSED)
		warn_rule(l, "log", log->pseg, rule);
	if (l->blocks) {
		segsum_iter_init(&s->iter, &l->vol->geo, s->buf,
				 s->capacity * l->vol->geo.block_size);
		table_begin(&t, &l->tool->report, "blocks", block_columns,
			    BLOCK_COUNT);
		while (segsum_iter_next(&s->iter, &b)) {
			struct value v[BLOCK_COUNT] = {
				[BLOCK_BLOCKNR] = value_u64(log->pseg + b.index),
				[BLOCK_INDEX] = value_u64(b.index),
				[BLOCK_INO] = value_u64(b.ino),
				[BLOCK_KIND] = value_bytes(
					b.is_node ? "node" : "data", 4),
			};

			/* The offset and level of a virtual node are not listed. */
			if (!b.is_node || !b.is_virtual) {
				v[BLOCK_OFFSET] = value_u64(b.blkoff);
				v[BLOCK_LEVEL] = value_u64(b.level);
			}
			if (b.is_virtual)
				v[BLOCK_VBLOCK] = value_u64(b.vblocknr);
			table_row(&t, v);
		}
		table_end(&t);
	}
	return segsum_has_super_root(&log->ss) ? print_super_root(l, log) : 0;
}

static int print_log(struct logs *l, const struct log_facts *f)
{
	const struct nilfs_segment_summary *ss = &f->log->ss;
	struct report *r = &l->tool->report;
	int err = 0;

	report_begin(r, "log", NULL);
	report_u64(r, "segment", "Segment", f->segnum);
	report_u64(r, "blocknr", "First block", f->log->pseg);
	report_string(r, "state", "State", state_names[f->state]);
	fields_report_first(r, field_table_find("segment_summary"), ss,
			    le16_get(ss->ss_bytes));
	report_u64(r, "summary_blocks", "Summary blocks",
		   segsum_nsumblk(&l->vol->geo, ss));
	report_bool(r, "sumsum_is_right", "ss_sumsum is right",
		    f->sumsum_right);
	report_value(r, VALUE_BOOL, "datasum_is_right", "ss_datasum is right",
		     f->datasum_right);
	if (f->readable)
		err = print_contents(l, f->log);
	report_end(r);
	if (!err && report_is_text(r))
		out_char(r->out, '\n');
	return err;
}

/* Prints a log.  A broken one is counted, reported and printed as far as
   possible. */
static int show_log(struct logs *l, uint64_t segnum, enum logs_state state,
		    const struct log *log)
{
	struct log_facts f = {
		.segnum = segnum,
		.state = state,
		.log = log,
	};
	const struct nilfs_segment_summary *ss = &log->ss;
	int err = find_facts(l, &f);

	if (err)
		return err;
	if (!l->o->brief)
		return print_log(l, &f);
	table_row(&l->table, (struct value[ROW_COUNT]){
		[ROW_SEGMENT] = value_u64(segnum),
		[ROW_BLOCK] = value_u64(log->pseg),
		[ROW_SEQ] = value_u64(le64_get(ss->ss_seq)),
		[ROW_CREATED] = value_u64(le64_get(ss->ss_create)),
		[ROW_BLOCKS] = value_u64(log->nblocks),
		[ROW_FILES] = value_u64(le32_get(ss->ss_nfinfo)),
		[ROW_NEXT] = value_u64(le64_get(ss->ss_next)),
		[ROW_CNO] = segsum_has_cno(ss) ? value_u64(segsum_cno(ss)) :
						 value_absent(),
		[ROW_STATE] = value_string(state_names[state]),
		[ROW_SUMMARY] = value_bool(f.sumsum_right),
		[ROW_PAYLOAD] = f.datasum_right,
		[ROW_FLAGS] = value_u64(le16_get(ss->ss_flags)),
	});
	return 0;
}

/* A segment while its logs are printed. */
struct walk {
	struct logs *logs;
	uint64_t segnum;
	uint64_t counted;	/* one past the last block the SUFILE counts */
	struct logscan scan;
};

/* Sequence numbers only grow, so a log of an earlier use has a smaller one. */
static enum logs_state state_of(const struct walk *w, const struct log *log)
{
	uint64_t seq = le64_get(log->ss.ss_seq);

	if (log->pseg < w->counted && seq == w->scan.seq)
		return LOGS_CURRENT;
	return seq >= w->logs->vol->latest.seq ? LOGS_NEWER : LOGS_STALE;
}

/* Prints the logs that follow each other from the beginning of the segment. */
static int show_chain(struct walk *w)
{
	struct logs *l = w->logs;
	struct context *cx = &l->tool->cx;
	enum logs_state state;
	struct log log;
	int ret;

	while ((ret = logscan_next(&w->scan, cx, &log)) > 0) {
		state = state_of(w, &log);
		if (state == LOGS_STALE && !l->o->stale)
			break;
		ret = context_cancelled(cx);
		if (!ret)
			ret = show_log(l, w->segnum, state, &log);
		if (ret)
			return ret;
	}
	if (ret >= 0 && w->scan.pseg < w->counted) {
		tool_warn(l->tool,
			  "segment %llu: no log at block %llu, which is in "
			  "use", (unsigned long long)w->segnum,
			  (unsigned long long)w->scan.pseg);
		l->broken++;
	}
	return ret < 0 ? ret : 0;
}

static int logs_print_segment(struct logs *l, uint64_t segnum,
			      const struct nilfs_segment_usage_ext *su)
{
	struct walk w = { .logs = l, .segnum = segnum };
	struct context *cx = &l->tool->cx;
	struct logsearch search;
	struct log log;
	int ret;

	if (segusage_is_clean(&su->su) && !l->o->stale)
		return 0;
	ret = logscan_open(&w.scan, cx, l->vol, segnum, 0);
	if (ret)
		return ret;
	if (!segusage_is_clean(&su->su))
		w.counted = w.scan.pseg + le32_get(su->su.su_nblocks);
	ret = show_chain(&w);
	if (ret || !l->o->stale)
		return ret;
	ret = logsearch_open(&search, cx, l->vol, segnum, w.scan.pseg);
	while (!ret && (ret = logsearch_next(&search, cx, &log)) > 0)
		ret = show_log(l, segnum, state_of(&w, &log), &log);
	logsearch_close(&search);
	return ret;
}

static int logs_print_range(struct logs *logs, const char *word)
{
	struct context *cx = &logs->tool->cx;
	struct nilfs_segment_usage_ext su;
	struct range range = { 0, 0 };
	uint64_t segnum;
	int err;

	err = range_parse(cx, "SEGMENT", word, &range);
	if (range.last == UINT64_MAX)
		range.last = logs->vol->geo.nsegments - 1;
	if (!err && range.first > range.last)
		err = fail_said(cx, -ENOENT, "segments from %" PRIu64
				": the volume has %" PRIu64, range.first,
				logs->vol->geo.nsegments);
	for (segnum = range.first; !err && segnum <= range.last; segnum++) {
		err = sutable_read(logs->vol, cx, segnum, &su);
		if (!err)
			err = logs_print_segment(logs, segnum, &su);
	}
	return err;
}

static int logs_print_all(struct logs *logs)
{
	struct tool *tool = logs->tool;
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret;

	progress_begin(&tool->progress, "segments", logs->vol->geo.nsegments,
		       false);
	ret = sutable_cursor_open(&cur, &tool->cx, logs->vol, logs->o->stale);
	while (!ret && (ret = sutable_cursor_next(&cur, &tool->cx, &segnum,
						  &su)) > 0) {
		progress_update(&tool->progress, segnum);
		ret = logs_print_segment(logs, segnum, &su);
	}
	sutable_cursor_close(&cur);
	progress_end(&tool->progress);
	return ret;
}

static int logs_run(struct tool *tool, const void *options)
{
	const struct logs_options *o = options;
	struct logs logs = {
		.tool = tool, .o = o, .blocks = o->blocks || tool->verbose,
	};
	struct dump_image im;
	int i, err = image_open(&im, tool, tool->argv[0], NULL);

	logs.vol = im.vol;
	if (err)
		goto out;
	if (o->brief)
		table_begin(&logs.table, &tool->report, "logs", row_columns,
			    ROW_COUNT);
	else
		report_list(&tool->report, "logs");
	if (tool->argc == 1)
		err = logs_print_all(&logs);
	for (i = 1; i < tool->argc && !err; i++)
		err = logs_print_range(&logs, tool->argv[i]);
	if (o->brief)
		table_end(&logs.table);
	else
		report_end(&tool->report);
	summary_free(&logs.summary);
out:
	image_close(&im);
	return err ? err : logs.broken != 0;
}

const struct cli_command logs_command = {
	.name = "logs",
	.summary = "the logs of segments, down to single blocks",
	.synopsis = "IMAGE [SEGMENT|FIRST..LAST]...",
	.about =
	"Shows the logs of the given segments, of all in use by default: the\n"
	"header, the files and, with --blocks, every block of the payload.\n"
	"The checksum of each summary is checked, that of the payload with\n"
	"--verify.  The exit status is 1 if a log is broken.\n"
	"\n"
	"A \"newer\" log is in no checkpoint yet; a \"stale\" one is left from an\n"
	"earlier use of its segment.  --stale looks for both after the logs in use\n"
	"and in clean segments.",
	.options = logs_rows,
	.options_size = sizeof(struct logs_options),
	.min_args = 1,
	.max_args = TOOL_ANY_ARGS,
	.run = logs_run,
};
