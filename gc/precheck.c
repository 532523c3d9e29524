// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The check before the first write of any job (checkpointjob_precheck()).
 *
 * Moved blocks get new logs with matching checksums, and the old ones are
 * freed: a repair could not use them any more.  So nothing is moved on a volume
 * in which fsck.nilfs2 would find an error.  The passes are the same; warnings,
 * which a kernel tolerates, are not reported.
 *
 * Errors of a snapshot do not prevent its deletion or conversion, if there are
 * no others: it could not be removed otherwise.
 */
#include "gc/precheck.h"

#include <errno.h>

#include "check/check.h"
#include "check/pass/passes.h"
#include "find/findprint.h"
#include "vol/writable.h"

struct precheck {
	struct tool *tool;
	struct check *c;
	precheck_given *given;	/* or NULL: none is */
	void *arg;
	bool listed;		/* list the findings */
	bool begun;		/* the list of these has begun */
	uint64_t others;	/* errors outside the given checkpoints */
};

/*
 * Each job handles zones that an interrupted run has left, and a latest log
 * that does not end at the write pointer of its zone.
 */
static bool forbids_moving(enum rule rule)
{
	const struct rule_info *info = rule_info(rule);

	return info->severity >= RULE_ERROR &&
	       (info->area != RULE_AREA_DEVICE ||
		info->scope == RULE_SCOPE_PLACE);
}

/* Called for all findings, also for those that are not shown. */
static void count_others(void *arg, const struct finding *f)
{
	struct precheck *p = arg;
	const struct place *at = &f->place;
	uint64_t cno = 0;	/* the checkpoint that the object belongs to */

	if (!forbids_moving(f->rule))
		return;
	if (at->kind == PLACE_CHECKPOINT)
		cno = at->number;
	else if (at->kind == PLACE_GROUP || at->kind == PLACE_INODE ||
		 at->kind == PLACE_MAP || at->kind == PLACE_NAME)
		cno = at->cno;
	p->others += !(cno && p->given && p->c->vol &&
		       cno != p->c->vol->latest.cno && p->given(p->arg, cno));
}

static void show_error(void *arg, const struct finding *f)
{
	struct precheck *p = arg;
	struct report *r = &p->tool->report;

	if (!p->listed || !forbids_moving(f->rule))
		return;
	if (!p->begun)
		report_list(r, "findings");
	p->begun = true;
	findprint_finding(r, f);
}

static void precheck_show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct precheck *p = arg;
	struct progress *progress = &p->tool->progress;

	progress->total = total;
	progress_update(progress, total && done > total ? total : done);
}

static void show_pass(void *arg, const struct pass *pass)
{
	struct precheck *p = arg;

	progress_begin(&p->tool->progress, pass->doing, 0, false);
}

static void precheck_end_pass(void *arg)
{
	struct precheck *p = arg;

	progress_end(&p->tool->progress);
}

static int precheck_opened(void *arg, struct check *c, struct context *cx)
{
	struct precheck *p = arg;

	check_raise_budget(cx, c->vol, p->tool->cli->max_memory);
	return 0;
}

int precheck_run(struct tool *tool, struct dev *dev, const char *why,
		 bool listed, precheck_given *given, void *arg)
{
	struct precheck p = {
		.tool = tool,
		.given = given,
		.arg = arg,
		.listed = listed,
	};
	struct check c = {
		.dev = dev,
		.failed_reads = dev->stats.failed_reads,
		.progress = precheck_show_progress,
		.progress_arg = &p,
	};
	const struct check_run run = {
		.opened = precheck_opened,
		.begin = show_pass,
		.end = precheck_end_pass,
		.arg = &p,
	};
	const struct rule_info *rule;
	struct context cx = tool->cx;
	bool spared;
	size_t i;
	int ret;

	p.c = &c;
	ret = findings_open(&c.findings, &cx, show_error, &p, false);
	if (!ret) {
		c.findings->watch = count_others;
		c.findings->watch_arg = &p;
		ret = check_volume(&c, &cx, &run);
		/* 1 where an error was found, 0, or a failure. */
		if (!ret)
			ret = 1;
		else if (ret > 0)
			for (i = 0, ret = 0; !ret && (rule = rule_at(i)); i++)
				ret = forbids_moving(rule->rule) &&
				      findings_count(c.findings, rule->rule);
	}
	if (p.begun)
		report_end(&tool->report);
	spared = ret > 0 && c.vol && !p.others;
	if (ret > 0)
		fail(&cx, 0, "%s", why);
	if ((!ret || spared) && writable_check(&cx, c.vol) == -EUCLEAN) {
		ret = 1;
		spared = false;
	}
	if (ret > 0 && !spared)
		tool_warn(tool, "%s: nothing was changed: %s", tool->argv[0],
			  cx.failure);
	check_fini(&c);
	findings_close(c.findings);
	if (ret < 0)
		context_adopt(&tool->cx, &cx);
	if (ret <= 0)
		return ret;
	return spared ? PRECHECK_GIVEN : PRECHECK_REFUSED;
}
