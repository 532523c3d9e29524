// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 report: a whole volume on one page.
 *
 * Each part is reported as far as the volume can be read; a failure is reported in
 * its place.  The page is HTML, or JSON with the same parts.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "check/check.h"
#include "check/pass/passes.h"
#include "cli/outfile.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "disk/checkpoint.h"
#include "dump/common/commands.h"
#include "dump/common/image.h"
#include "dump/report_space.h"
#include "dump/volume/info.h"
#include "find/findprint.h"
#include "out/chart.h"
#include "out/report.h"
#include "out/table.h"
#include "vol/cptable.h"

/*
 * The checkpoints over time: all in the plot, snapshots and the newest ones in the
 * table.
 */

#define NEWEST 20		/* checkpoints in the table */
#define SNAPSHOTS 100		/* snapshots in the table, the newest ones */

enum { CNO, CREATED, SNAPSHOT, SIZE, INODES, INCREMENT, CP_COLUMNS };

static const struct column cp_columns[CP_COLUMNS] = {
	[CNO] = { "checkpoint", "CHECKPOINT", VALUE_U64, 10 },
	[CREATED] = { "created", "CREATED", VALUE_TIME, 25 },
	[SNAPSHOT] = { "snapshot", "SNAPSHOT", VALUE_BOOL, 8 },
	[SIZE] = { "bytes", "SIZE OF FILES", VALUE_SIZE, 10 },
	[INODES] = { "inodes", "INODES", VALUE_U64, 8 },
	[INCREMENT] = { "increment_bytes", "WRITTEN BY IT", VALUE_SIZE, 10 },
};

/* One checkpoint; sizes in bytes. */
struct cp_entry {
	uint64_t cno, created, size, inodes, increment;
	bool snapshot;
};

/*
 * Reports the snapshots and the newest checkpoints; on a page with a plot of
 * all.  -EUCLEAN, -EIO, -ENOMEM.
 */
static int report_checkpoints(struct tool *tool, const struct dump_image *im)
{
	struct chart_series series[] = { { "checkpoints" },
					 { "snapshots", .dots = true } };
	struct chart plot = {
		.title = "Checkpoints over time",
		.x = { "time of the checkpoint, UTC", CHART_TIME, 0, 0 },
		.y = { "size of all files", CHART_BYTES, 0, 0 },
		.series = series,
	};
	unsigned int bits = im->vol->geo.block_bits;
	struct report *r = &tool->report;
	struct svg svg = { .out = tool->out, .page = true };
	struct context *cx = &tool->cx;
	struct chart_point *points = NULL;
	struct cp_entry *entries = NULL, *e;
	size_t i, count = 0, room = 0, snapshots = 0, newer;
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	struct table t;
	int ret = cptable_cursor_open(&cur, cx, im->vol);

	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		ret = array_reserve(cx, &entries, &room, count + 1);
		if (ret)
			break;
		entries[count++] = (struct cp_entry){
			.cno = le64_get(cp.cp_cno),
			.created = le64_get(cp.cp_create),
			.size = le64_get(cp.cp_blocks_count) << bits,
			.inodes = le64_get(cp.cp_inodes_count),
			.increment = le64_get(cp.cp_nblk_inc) << bits,
			.snapshot = checkpoint_is_snapshot(&cp),
		};
		snapshots += checkpoint_is_snapshot(&cp);
		ret = context_cancelled(cx);
	}
	cptable_cursor_close(&cur);
	report_begin(r, "past", "Checkpoints");
	if (!ret && count && report_is_text(r)) {
		points = calloc(count + snapshots, sizeof(*points));
		if (!points)
			ret = fail(cx, -ENOMEM, "plot of checkpoints");
	}
	if (ret)
		goto out;
	series[0].points = points;
	series[1].points = points + count;
	for (e = entries; points && e < entries + count; e++) {
		struct chart_point at = { (double)e->created, (double)e->size };

		points[series[0].count++] = at;
		if (e->snapshot)
			points[count + series[1].count++] = at;
	}
	plot.n = snapshots ? 2 : 1;
	if (points)
		chart_lines(&svg, &plot);
	report_u64(r, "count", "Checkpoints", count);
	report_u64(r, "snapshots", "Snapshots", snapshots);
	report_text(r, "Snapshots, and the newest checkpoints:");
	table_begin(&t, r, "checkpoints", cp_columns, CP_COLUMNS);
	for (i = 0, newer = snapshots; i < count; i++) {
		e = &entries[i];
		newer -= e->snapshot;
		if (count - i > NEWEST && (!e->snapshot || newer >= SNAPSHOTS))
			continue;
		table_row(&t, (struct value[]){
			[CNO] = value_u64(e->cno),
			[CREATED] = value_u64(e->created),
			[SNAPSHOT] = value_bool(e->snapshot),
			[SIZE] = value_u64(e->size),
			[INODES] = value_u64(e->inodes),
			[INCREMENT] = value_u64(e->increment),
		});
	}
	table_end(&t);
out:
	report_end(r);
	free(points);
	free(entries);
	return ret;
}

/*
 * The findings of a check, printed as they are found, and the verdict.
 */

#define ROWS_MAX 500		/* of a page */

enum { RULE, SEVERITY, PLACE, TEXT, DETAIL, FINDING_COLUMNS };

static const struct column finding_columns[FINDING_COLUMNS] = {
	[RULE] = { "rule", "RULE", VALUE_STRING, 0 },
	[SEVERITY] = { "severity", "SEVERITY", VALUE_STRING, 0 },
	[PLACE] = { "place", "PLACE", VALUE_STRING, 0 },
	[TEXT] = { "text", "PROBLEM", VALUE_STRING, 0 },
	[DETAIL] = { "detail", "DETAIL", VALUE_STRING, 0 },
};

struct checking {
	struct tool *tool;
	struct table table;
	uint64_t rows;
};

static void take_finding(void *arg, const struct finding *f)
{
	struct checking *k = arg;
	struct report *r = &k->tool->report;
	const struct rule_info *rule = rule_info(f->rule);
	char place[PLACE_TEXT_MAX];

	if (!report_is_text(r)) {
		findprint_finding(r, f);
		return;
	}
	if (!k->rows++)
		table_begin(&k->table, r, "findings", finding_columns,
			    FINDING_COLUMNS);
	if (k->rows > ROWS_MAX)
		return;
	findprint_place(&f->place, place);
	table_row(&k->table, (struct value[]){
		[RULE] = value_string(rule->slug),
		[SEVERITY] = value_string(findprint_severities[rule->severity]),
		[PLACE] = value_string(place),
		[TEXT] = value_string(rule->text),
		[DETAIL] = value_string(f->detail),
	});
}

static void report_show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;

	p->total = total;
	progress_update(p, total && done > total ? total : done);
}

static void report_begin_pass(void *arg, const struct pass *pass)
{
	progress_begin(arg, pass->doing, 0, false);
}

static void report_end_pass(void *arg)
{
	progress_end(arg);
}

/*
 * Checks the volume as `fsck.nilfs2 -n` does, and reports the findings
 * and their number.  -ENOMEM, -EINTR.
 */
static int report_check_put(struct tool *tool, const struct dump_image *im)
{
	struct checking k = { .tool = tool };
	const struct check_run how = {
		.begin = report_begin_pass,
		.end = report_end_pass,
		.arg = &tool->progress,
	};
	struct check c = {
		.dev = im->dev,
		.failed_reads = im->dev->stats.failed_reads,
		.progress = report_show_progress,
		.progress_arg = &tool->progress,
	};
	struct report *r = &tool->report;
	uint64_t errors, all;
	int ret = findings_open(&c.findings, &tool->cx, take_finding, &k,
				false);

	report_begin(r, "check", "Check");
	if (!ret) {
		report_list(r, "findings");
		ret = check_volume(&c, &tool->cx, &how);
		report_end(r);
		if (k.rows)
			table_end(&k.table);
		if (k.rows > ROWS_MAX)
			report_text(r, "%" PRIu64 " more findings are not "
				    "shown; fsck.nilfs2 -n lists them.",
				    k.rows - ROWS_MAX);
	}
	if (ret >= 0) {
		errors = findings_count_severity(c.findings, RULE_ERROR);
		all = findings_count_severity(c.findings, RULE_WARNING);
		report_string(r, "verdict", "Verdict",
			      ret != 1 ? "the volume cannot be opened" :
			      errors ? "damaged" :
			      all ? "sound, with warnings" : "sound");
		report_u64(r, "errors", "Errors", errors);
		report_u64(r, "warnings", "Warnings", all - errors);
	}
	report_end(r);
	findings_close(c.findings);
	check_fini(&c);
	return ret < 0 ? ret : 0;
}

struct report_options {
	bool fast;
	bool force;
};

/* The parts of a page before the superblocks. */
static const struct {
	int (*put)(struct tool *tool, const struct dump_image *im);
	bool slow;		/* not with --fast */
	bool opened;		/* only of a volume that can be opened */
} parts[] = {
	{ report_check_put, true, false },
	{ report_space_put, false, true },
	{ report_checkpoints, false, true },
	{ report_space_files, true, true },
};

static int report_run(struct tool *tool, const void *options)
{
	const struct report_options *o = options;
	const char *const inputs[] = { tool->argv[0], NULL };
	const struct output_how how = {
		.there = o->force ? OUTPUT_REPLACE : OUTPUT_ASK,
		.inputs = inputs,
	};
	char title[SEGMAP_TITLE_MAX] = "NILFS2 volume", below[SEGMAP_TITLE_MAX];
	struct segmap_volume v;
	struct out *out = tool->out;
	struct info_super supers;
	struct outfile file = { .out = out };
	struct dump_image im;
	bool named = tool->argc > 1;
	int err, status = 0, failed = image_open(&im, tool, tool->argv[0], NULL);
	size_t i;

	if (!im.dev)
		return failed;
	info_super_read(&supers, &tool->cx, im.dev);
	err = supers.shown[0] || supers.shown[1] ? 0 : failed;
	if (!err && named)
		err = outfile_open(&file, &tool->cx, tool->argv[1], &how);
	if (err)
		goto out;
	/* The output of the tool is FILE until the page is complete. */
	tool->out = tool->report.out = tool->report.json.out = file.out;
	if (im.vol) {
		image_describe(&im, &v);
		segmap_titles(&v, title, below);
	}
	if (report_is_text(&tool->report))
		report_html_open(&tool->report, title, tool->argv[0]);
	err = image_note(tool, &status, failed);
	for (i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!(parts[i].slow && o->fast) && (im.vol || !parts[i].opened))
			err = image_note(tool, &status, parts[i].put(tool, &im));
	if (!err)
		err = image_note(tool, &status,
				 info_report(tool, &supers, im.vol, im.dev->size));
	if (named) {
		if (!err)
			report_fini(&tool->report);
		tool->out = out;
		report_init(&tool->report, out, REPORT_TEXT);
		err = outfile_close(&file, &tool->cx, err);
	}
out:
	image_close(&im);
	return err ? err : status;
}

static const struct cli_option report_rows[] = {
	{ 0, "fast", NULL, "do not check the volume or read files",
	  OPTION_FLAG, offsetof(struct report_options, fast) },
	{ 0, "force", NULL, "replace FILE if it exists", OPTION_FLAG,
	  offsetof(struct report_options, force) },
	{ 0 },
};

const struct cli_command report_command = {
	.name = "report",
	.summary = "everything on one page of HTML, with pictures",
	.synopsis = "IMAGE [FILE]",
	.about = "Writes a page to FILE or standard output: check, what holds "
		 "the space, segments,\ncheckpoints, largest and most "
		 "fragmented files, superblocks.",
	.options = report_rows,
	.options_size = sizeof(struct report_options),
	.min_args = 1,
	.max_args = 2,
	.run = report_run,
};
