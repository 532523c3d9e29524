// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The findings of a check, in a report.
 *
 * They are put as they come and not kept; the verdict follows them.
 */
#include "dump/report_check.h"

#include <inttypes.h>

#include "check/check.h"
#include "check/passes.h"
#include "find/findprint.h"
#include "out/table.h"

#define ROWS_MOST 500		/* of a page */

enum { RULE, SEVERITY, PLACE, TEXT, DETAIL, COLUMNS };

static const struct column columns[COLUMNS] = {
	[RULE] = { "rule", "RULE", VALUE_STRING, 0 },
	[SEVERITY] = { "severity", "SEVERITY", VALUE_STRING, 0 },
	[PLACE] = { "place", "PLACE", VALUE_STRING, 0 },
	[TEXT] = { "text", "WHAT IS WRONG", VALUE_STRING, 0 },
	[DETAIL] = { "detail", "DETAIL", VALUE_STRING, 0 },
};

struct checking {
	struct tool *tool;
	struct table table;
	uint64_t rows;
};

static void put_row(struct checking *k, const struct finding *f)
{
	const struct rule_info *rule = rule_info(f->rule);
	char place[PLACE_TEXT_MAX];

	if (!k->rows++)
		table_begin(&k->table, &k->tool->report, "findings", columns,
			    COLUMNS);
	if (k->rows > ROWS_MOST)
		return;
	place_text(&f->place, place);
	table_row(&k->table, (struct value[]){
		[RULE] = value_string(rule->slug),
		[SEVERITY] = value_string(findprint_severity(rule->severity)),
		[PLACE] = value_string(place),
		[TEXT] = value_string(rule->text),
		[DETAIL] = value_string(f->detail),
	});
}

static void take(void *arg, const struct finding *f)
{
	struct checking *k = arg;

	if (report_is_text(&k->tool->report))
		put_row(k, f);
	else
		findprint_finding(&k->tool->report, f);
}

static void show_progress(void *arg, uint64_t done)
{
	struct checking *k = arg;
	struct progress *p = &k->tool->progress;

	progress_update(p, p->total && done > p->total ? p->total : done);
}

static void begin_pass(void *arg, const struct pass *pass, uint64_t total)
{
	struct checking *k = arg;

	progress_begin(&k->tool->progress, pass->doing, total, false);
}

static void end_pass(void *arg)
{
	struct checking *k = arg;

	progress_end(&k->tool->progress);
}

static void put_verdict(struct report *r, const struct findings *f, bool whole)
{
	uint64_t errors = findings_count_severity(f, RULE_ERROR);
	uint64_t all = findings_count_severity(f, RULE_WARNING);

	report_string(r, "verdict", "Verdict",
		      !whole ? "the volume cannot be opened" :
		      errors ? "damaged" : all ? "sound, with warnings" :
		      "sound");
	report_u64(r, "errors", "Errors", errors);
	report_u64(r, "warnings", "Warnings", all - errors);
}

static int run(struct checking *k, struct check *c, struct context *cx)
{
	const struct check_run how = {
		.begin = begin_pass,
		.end = end_pass,
		.arg = k,
	};
	struct report *r = &k->tool->report;
	int ret;

	report_list(r, "findings");
	ret = check_volume(c, cx, &how);
	report_end(r);
	if (k->rows)
		table_end(&k->table);
	if (k->rows > ROWS_MOST)
		report_text(r, "%" PRIu64 " more findings are not shown; "
			    "fsck.nilfs2 -n lists them.", k->rows - ROWS_MOST);
	if (ret >= 0)
		put_verdict(r, c->findings, ret == 1);
	return ret < 0 ? ret : 0;
}

int report_check_put(struct tool *tool, struct dev *dev)
{
	struct checking k = { .tool = tool };
	struct check c = {
		.dev = dev,
		.failed_reads = dev->stats.failed_reads,
		.progress = show_progress,
		.progress_arg = &k,
	};
	int ret = findings_open(&c.findings, &tool->cx, take, &k, false);

	report_begin(&tool->report, "check", "Check");
	if (!ret)
		ret = run(&k, &c, &tool->cx);
	report_end(&tool->report);
	findings_close(c.findings);
	check_fini(&c);
	return ret;
}
