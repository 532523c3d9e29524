// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The check before the first write.
 *
 * Moved blocks get new logs with matching checksums, and the old ones are
 * freed: a repair could not use them any more.  So nothing is moved on a volume
 * in which fsck.nilfs2 would find an error.  The passes are the same; warnings,
 * which a kernel tolerates, are not reported.
 */
#include "gc/precheck.h"

#include <errno.h>

#include "check/check.h"
#include "check/pass/passes.h"
#include "find/findprint.h"
#include "gc/move/target.h"

struct precheck {
	struct tool *tool;
	bool listed;		/* the list of findings has begun */
};

/*
 * Zones that an interrupted run has left, and a latest log that does not end at
 * the write pointer of its zone, are cleaned up by each job.
 */
static bool forbids(enum rule rule)
{
	const struct rule_info *info = rule_info(rule);

	return info->severity >= RULE_ERROR &&
	       (info->area != RULE_AREA_DEVICE ||
		info->scope == RULE_SCOPE_PLACE);
}

static void show_error(void *arg, const struct finding *f)
{
	struct precheck *p = arg;
	struct report *r = &p->tool->report;

	if (!forbids(f->rule))
		return;
	if (!p->listed)
		report_list(r, "findings");
	p->listed = true;
	findprint_finding(r, f);
}

static void show_progress(void *arg, uint64_t done)
{
	struct precheck *p = arg;
	struct progress *progress = &p->tool->progress;

	progress_update(progress, progress->total && done > progress->total ?
					  progress->total : done);
}

static void show_pass(void *arg, const struct pass *pass, uint64_t total)
{
	struct precheck *p = arg;

	progress_begin(&p->tool->progress, pass->doing, total, false);
}

static void end_pass(void *arg)
{
	struct precheck *p = arg;

	progress_end(&p->tool->progress);
}

static int opened(void *arg, struct check *c, struct context *cx)
{
	struct precheck *p = arg;

	check_raise_budget(cx, c->vol, p->tool->cli->max_memory);
	return 0;
}

static bool has_forbidding(const struct findings *f)
{
	const struct rule_info *rule;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		if (forbids(rule->rule) && findings_count(f, rule->rule))
			return true;
	return false;
}

/* 1 where an error was found, 0, or a failure. */
static int has_errors(struct precheck *p, struct context *cx, struct check *c)
{
	const struct check_run run = {
		.opened = opened,
		.begin = show_pass,
		.end = end_pass,
		.arg = p,
	};
	int ret = findings_open(&c->findings, cx, show_error, p, false);

	if (!ret)
		ret = check_volume(c, cx, &run);
	if (p->listed)
		report_end(&p->tool->report);
	if (ret < 0)
		return ret;
	return !ret || has_forbidding(c->findings);
}

int precheck_run(struct tool *tool, struct dev *dev, const char *why)
{
	struct precheck p = { .tool = tool };
	struct check c = {
		.dev = dev,
		.failed_reads = dev->stats.failed_reads,
		.progress = show_progress,
		.progress_arg = &p,
	};
	struct context cx = tool->cx;
	int ret = has_errors(&p, &cx, &c);

	if (ret > 0)
		fail(&cx, 0, "%s", why);
	else if (!ret && target_check_volume(&cx, c.vol) == -EUCLEAN)
		ret = 1;
	if (ret > 0)
		tool_warn(tool, "%s: nothing was changed: %s", tool->argv[0],
			  cx.failure);
	check_fini(&c);
	findings_close(c.findings);
	if (ret < 0)
		context_adopt(&tool->cx, &cx);
	return ret > 0 ? PRECHECK_REFUSED : ret;
}
