// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * logs: what was written, log by log.
 *
 * A segment in use has logs up to the length in the SUFILE.  After them there
 * may be logs that were written after the latest super root and are in no
 * checkpoint yet, and logs of an earlier use of the segment.  The former are
 * shown if they continue a segment in use; others are searched block by block,
 * only on request.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/range.h"
#include "dump/blocks/logs_view.h"
#include "dump/common/image.h"
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

struct logs_run {
	struct logs_view view;
	struct volume *vol;
	bool stale;
};

/* A segment while its logs are shown. */
struct walk {
	struct logs_run *run;
	uint64_t segnum;
	uint64_t counted;	/* one past the last block the SUFILE counts */
	struct logscan scan;
};

/* Numbers only grow, so a log of an earlier life has a smaller one. */
static enum logs_state state_of(const struct walk *w, const struct log *log)
{
	uint64_t seq = le64_get(log->ss.ss_seq);

	if (log->pseg < w->counted && seq == w->scan.seq)
		return LOGS_CURRENT;
	return seq >= w->run->vol->latest.seq ? LOGS_NEWER : LOGS_STALE;
}

static void check_end(struct walk *w)
{
	if (w->scan.pseg >= w->counted)
		return;
	tool_warn(w->run->view.tool,
		  "segment %llu: no log at block %llu, where one should be",
		  (unsigned long long)w->segnum,
		  (unsigned long long)w->scan.pseg);
	w->run->view.broken++;
}

/* The logs that follow one another from the beginning of the segment. */
static int show_chain(struct walk *w)
{
	struct context *cx = &w->run->view.tool->cx;
	enum logs_state state;
	struct log log;
	int ret;

	while ((ret = logscan_next(&w->scan, cx, &log)) > 0) {
		state = state_of(w, &log);
		if (state == LOGS_STALE && !w->run->stale)
			break;
		ret = context_cancelled(cx);
		if (!ret)
			ret = logs_view_log(&w->run->view, w->segnum, state,
					    &log);
		if (ret)
			return ret;
	}
	if (ret >= 0)
		check_end(w);
	return ret < 0 ? ret : 0;
}

static int show_stale(struct walk *w)
{
	struct context *cx = &w->run->view.tool->cx;
	struct logsearch search;
	struct log log;
	int ret;

	ret = logsearch_open(&search, cx, w->run->vol, w->segnum,
			     w->scan.pseg);
	while (!ret && (ret = logsearch_next(&search, cx, &log)) > 0)
		ret = logs_view_log(&w->run->view, w->segnum,
				    state_of(w, &log), &log);
	logsearch_close(&search);
	return ret;
}

static int show_segment(struct logs_run *run, uint64_t segnum,
			const struct nilfs_segment_usage_ext *su)
{
	struct walk w = { .run = run, .segnum = segnum };
	int err;

	if (segusage_is_clean(&su->su) && !run->stale)
		return 0;
	err = logscan_open(&w.scan, &run->view.tool->cx, run->vol, segnum, 0);
	if (err)
		return err;
	if (!segusage_is_clean(&su->su))
		w.counted = w.scan.pseg + le32_get(su->su.su_nblocks);
	err = show_chain(&w);
	if (!err && run->stale)
		err = show_stale(&w);
	return err;
}

static int show_range(struct logs_run *run, const char *word)
{
	struct context *cx = &run->view.tool->cx;
	struct nilfs_segment_usage_ext su;
	struct range range = { 0, 0 };
	uint64_t segnum;
	int err;

	err = range_parse(cx, "SEGMENT", word, &range);
	if (range.last == UINT64_MAX)
		range.last = run->vol->geo.nsegments - 1;
	if (!err && range.first > range.last)
		err = fail_said(cx, -ENOENT, "segments from %" PRIu64
				": there are none", range.first);
	for (segnum = range.first; !err && segnum <= range.last; segnum++) {
		err = sutable_read(run->vol, cx, segnum, &su);
		if (!err)
			err = show_segment(run, segnum, &su);
	}
	return err;
}

static int show_all(struct logs_run *run)
{
	struct tool *tool = run->view.tool;
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret;

	progress_begin(&tool->progress, "segments", run->vol->geo.nsegments,
		       false);
	ret = sutable_cursor_open(&cur, &tool->cx, run->vol, run->stale);
	while (!ret && (ret = sutable_cursor_next(&cur, &tool->cx, &segnum,
						  &su)) > 0) {
		progress_update(&tool->progress, segnum);
		ret = show_segment(run, segnum, &su);
	}
	sutable_cursor_close(&cur);
	progress_end(&tool->progress);
	return ret;
}

static int show_logs(struct logs_run *run)
{
	struct tool *tool = run->view.tool;
	int i, err = 0;

	logs_view_begin(&run->view);
	if (tool->argc == 1)
		err = show_all(run);
	for (i = 1; i < tool->argc && !err; i++)
		err = show_range(run, tool->argv[i]);
	logs_view_end(&run->view);
	return err ? err : run->view.broken != 0;
}

static int logs_run(struct tool *tool, const void *options)
{
	const struct logs_options *o = options;
	struct dump_image im;
	struct logs_run run = {
		.view = {
			.tool = tool,
			.brief = o->brief,
			.blocks = o->blocks || tool->verbose,
			.verify = o->verify,
		},
		.stale = o->stale,
	};
	int err;

	err = image_open(&im, tool, tool->argv[0], NULL);
	if (!err) {
		run.vol = run.view.vol = im.vol;
		err = show_logs(&run);
	}
	image_close(&im);
	return err;
}

const struct cli_command logs_command = {
	.name = "logs",
	.summary = "the logs of segments, down to single blocks",
	.synopsis = "IMAGE [SEGMENT|FIRST..LAST]...",
	.about =
	"Shows the logs of the given segments, of all in use by default: the\n"
	"header, the files and, with --blocks, every block of the payload.\n"
	"The checksum of each summary is checked, that of the payload with\n"
	"--verify.  The exit status is 1 where a log was found to be broken.\n"
	"\n"
	"A \"newer\" log is one that no checkpoint knows yet, a \"stale\" one is left\n"
	"from an earlier use of its segment.  --stale looks for both after the\n"
	"logs in use and in clean segments.",
	.options = logs_rows,
	.options_size = sizeof(struct logs_options),
	.min_args = 1,
	.max_args = TOOL_ANY_ARGS,
	.run = logs_run,
};
