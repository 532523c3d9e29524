// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Printing a log.
 *
 * The header is printed by its field table.  The list of files and the list of
 * blocks are two walks over the same summary, so that neither is kept; the walk
 * over blocks is the fast one, since a large volume has tens of millions of
 * them.
 */
#include "dump/blocks/logs_view.h"

#include <errno.h>

#include "disk/field.h"
#include "disk/rule.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "dump/common/fields.h"
#include "vol/logcheck.h"
#include "vol/volume.h"

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
	[ROW_CREATED] = { "ss_create", "CREATED", VALUE_TIME, 19 },
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

/* What was found out about a log before anything is said. */
struct log_facts {
	uint64_t segnum;
	enum logs_state state;
	const struct log *log;
	bool readable;			/* the summary was read */
	bool sumsum_right;
	struct value datasum_right;	/* absent unless requested */
};

static void complain(struct logs_view *view)
{
	tool_warn(view->tool, "%s", view->tool->cx.failure);
	fail_clear(&view->tool->cx);
	view->broken++;
}

/*
 * A verdict is also printed on standard error: not every form of output shows
 * it.
 */
static void accuse(struct logs_view *view, const char *what, uint64_t blocknr,
		   enum rule rule)
{
	tool_warn(view->tool, "%s at block %llu: %s", what,
		  (unsigned long long)blocknr, rule_info(rule)->text);
	view->broken++;
}

static bool sumsum_is_right(struct logs_view *view, const struct log *log)
{
	const struct nilfs_geometry *geo = &view->vol->geo;
	struct segsum_crc crc;

	segsum_crc_init_sumsum(&crc, geo, &log->ss);
	segsum_crc_update(&crc, view->summary.buf,
			  (size_t)segsum_nsumblk(geo, &log->ss)
			  << geo->block_bits);
	if (segsum_crc_check_sumsum(&crc, &log->ss) == RULE_OK)
		return true;
	accuse(view, "log", log->pseg, RULE_LOG_SUMSUM);
	return false;
}

/* Reads and sums up; a verdict is a fact, only failures are returned. */
static int find_facts(struct logs_view *view, struct log_facts *f)
{
	struct context *cx = &view->tool->cx;
	int err;

	err = summary_read(&view->summary, cx, view->vol, f->log->pseg,
			   &f->log->ss);
	if (err == -EUCLEAN)
		complain(view);
	else if (err)
		return err;
	f->readable = !err;
	f->sumsum_right = f->readable && sumsum_is_right(view, f->log);
	if (!view->verify)
		return 0;
	err = logcheck_payload(view->vol, cx, f->log->pseg, &f->log->ss);
	if (err == -EUCLEAN)
		complain(view);
	else if (err)
		return err;
	f->datasum_right = value_bool(!err);
	return 0;
}

static void put_row(struct logs_view *view, const struct log_facts *f)
{
	const struct nilfs_segment_summary *ss = &f->log->ss;

	table_row(&view->table, (struct value[ROW_COUNT]){
		[ROW_SEGMENT] = value_u64(f->segnum),
		[ROW_BLOCK] = value_u64(f->log->pseg),
		[ROW_SEQ] = value_u64(le64_get(ss->ss_seq)),
		[ROW_CREATED] = value_u64(le64_get(ss->ss_create)),
		[ROW_BLOCKS] = value_u64(f->log->nblocks),
		[ROW_FILES] = value_u64(le32_get(ss->ss_nfinfo)),
		[ROW_NEXT] = value_u64(le64_get(ss->ss_next)),
		[ROW_CNO] = segsum_has_cno(ss) ? value_u64(segsum_cno(ss)) :
						 value_absent(),
		[ROW_STATE] = value_string(state_names[f->state]),
		[ROW_SUMMARY] = value_bool(f->sumsum_right),
		[ROW_PAYLOAD] = f->datasum_right,
		[ROW_FLAGS] = value_u64(le16_get(ss->ss_flags)),
	});
}

static void say_header(struct logs_view *view, const struct log_facts *f)
{
	struct report *r = &view->tool->report;

	report_u64(r, "segment", "Segment", f->segnum);
	report_u64(r, "blocknr", "First block", f->log->pseg);
	report_string(r, "state", "State", state_names[f->state]);
	fields_report_first(r, field_table_find("segment_summary"),
			    &f->log->ss, le16_get(f->log->ss.ss_bytes));
	report_u64(r, "summary_blocks", "Summary blocks",
		   segsum_nsumblk(&view->vol->geo, &f->log->ss));
	report_bool(r, "sumsum_is_right", "ss_sumsum is right",
		    f->sumsum_right);
	report_value(r, VALUE_BOOL, "datasum_is_right", "ss_datasum is right",
		     f->datasum_right);
}

/* The super root is the last block and is in no list of the summary. */
static int say_super_root(struct logs_view *view, const struct log *log)
{
	struct report *r = &view->tool->report;
	uint64_t blocknr = log->pseg + log->nblocks - 1;
	const struct nilfs_super_root *sr;
	const void *block;
	enum rule rule;
	int err;

	err = cache_get(view->vol->cache, &view->tool->cx, blocknr, &block);
	if (err)
		return err;
	sr = block;
	rule = superroot_check(&view->vol->geo, block);
	report_begin(r, "super_root", "Super root");
	report_u64(r, "blocknr", "Block", blocknr);
	report_bool(r, "is_right", "Size and sum are right", rule == RULE_OK);
	report_u64(r, "sr_bytes", "sr_bytes", le16_get(sr->sr_bytes));
	report_value(r, VALUE_HEX, "sr_flags", "sr_flags",
		     value_u64(le16_get(sr->sr_flags)));
	report_time(r, "sr_nongc_ctime", "sr_nongc_ctime",
		    le64_get(sr->sr_nongc_ctime));
	report_end(r);
	cache_put(view->vol->cache, block);
	if (rule != RULE_OK)
		accuse(view, "super root", blocknr, rule);
	return 0;
}

static void say_files(struct logs_view *view)
{
	struct summary *s = &view->summary;
	struct segsum_block b;
	struct table t;

	table_begin(&t, &view->tool->report, "files", file_columns,
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
}

static void put_block(struct table *t, uint64_t pseg,
		      const struct segsum_block *b)
{
	struct value v[BLOCK_COUNT] = {
		[BLOCK_BLOCKNR] = value_u64(pseg + b->index),
		[BLOCK_INDEX] = value_u64(b->index),
		[BLOCK_INO] = value_u64(b->ino),
	};

	if (!b->is_node || !b->is_virtual)
		v[BLOCK_OFFSET] = value_u64(b->blkoff);
	if (b->is_virtual)
		v[BLOCK_VBLOCK] = value_u64(b->vblocknr);
	/* A summary has the level of nodes of the DAT only. */
	if (!b->is_node || !b->is_virtual)
		v[BLOCK_LEVEL] = value_u64(b->level);
	v[BLOCK_KIND] = b->is_node ? value_bytes("node", 4) :
				     value_bytes("data", 4);
	table_row(t, v);
}

static void say_blocks(struct logs_view *view, const struct log *log)
{
	struct summary *s = &view->summary;
	struct segsum_block b;
	struct table t;

	table_begin(&t, &view->tool->report, "blocks", block_columns,
		    BLOCK_COUNT);
	while (segsum_iter_next(&s->iter, &b))
		put_block(&t, log->pseg, &b);
	table_end(&t);
}

/* Starts the walk over the summary again. */
static void rewind_summary(struct logs_view *view)
{
	struct summary *s = &view->summary;

	segsum_iter_init(&s->iter, &view->vol->geo, s->buf, s->capacity *
			 view->vol->geo.block_size);
}

/* Names what ended a walk early. */
static void check_walk(struct logs_view *view, const struct log *log)
{
	enum rule rule = view->summary.iter.verdict;

	if (rule != RULE_OK && rule != RULE_LOG_SUMBYTES_UNUSED)
		accuse(view, "log", log->pseg, rule);
}

static int say_contents(struct logs_view *view, const struct log_facts *f)
{
	say_files(view);
	check_walk(view, f->log);
	if (view->blocks) {
		rewind_summary(view);
		say_blocks(view, f->log);
	}
	if (!segsum_has_super_root(&f->log->ss))
		return 0;
	return say_super_root(view, f->log);
}

static int say_log(struct logs_view *view, const struct log_facts *f)
{
	struct report *r = &view->tool->report;
	int err = 0;

	report_begin(r, "log", NULL);
	say_header(view, f);
	if (f->readable)
		err = say_contents(view, f);
	report_end(r);
	if (!err && report_is_text(r))
		out_char(r->out, '\n');
	return err;
}

void logs_view_begin(struct logs_view *view)
{
	if (view->brief)
		table_begin(&view->table, &view->tool->report, "logs",
			    row_columns, ROW_COUNT);
	else
		report_list(&view->tool->report, "logs");
}

int logs_view_log(struct logs_view *view, uint64_t segnum,
		  enum logs_state state, const struct log *log)
{
	struct log_facts f = {
		.segnum = segnum,
		.state = state,
		.log = log,
	};
	int err;

	err = find_facts(view, &f);
	if (err)
		return err;
	view->logs++;
	if (!view->brief)
		return say_log(view, &f);
	put_row(view, &f);
	return 0;
}

void logs_view_end(struct logs_view *view)
{
	if (view->brief)
		table_end(&view->table);
	else
		report_end(&view->tool->report);
	summary_free(&view->summary);
}
