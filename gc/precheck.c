// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The check before the first write.
 *
 * Moved blocks get new logs with matching checksums, and the old ones are
 * freed: a repair could not use them any more.  So nothing is moved on a volume
 * in which fsck.nilfs2 would find an error.  The passes are the same; warnings,
 * which a kernel tolerates, are not reported.
 *
 * Errors of a snapshot do not keep it from being given up, if that is all that is
 * wrong: there would be no other way to be rid of it.
 */
#include "gc/precheck.h"

#include <errno.h>

#include "check/check.h"
#include "check/pass/passes.h"
#include "find/findprint.h"
#include "gc/move/target.h"

struct precheck {
	struct tool *tool;
	struct check *c;
	precheck_given *given;	/* or NULL: none is */
	void *arg;
	bool listed;		/* the list of findings has begun */
	bool unlisted;		/* there is to be none */
	uint64_t others;	/* errors that are not only of what is given */
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

/* The checkpoint that the object at P belongs to, or 0. */
static uint64_t owner_of(const struct place *p)
{
	switch (p->kind) {
	case PLACE_CHECKPOINT:
		return p->number;
	case PLACE_GROUP:
	case PLACE_INODE:
	case PLACE_MAP:
	case PLACE_NAME:
		return p->cno;
	default:
		return 0;
	}
}

/* Sees all findings: those that are shown may be fewer. */
static void count_others(void *arg, const struct finding *f)
{
	struct precheck *p = arg;
	uint64_t cno = owner_of(&f->place);

	if (forbids(f->rule) &&
	    !(cno && p->given && p->c->vol && cno != p->c->vol->latest.cno &&
	      p->given(p->arg, cno)))
		p->others++;
}

static void show_error(void *arg, const struct finding *f)
{
	struct precheck *p = arg;
	struct report *r = &p->tool->report;

	if (p->unlisted || !forbids(f->rule))
		return;
	if (!p->listed)
		report_list(r, "findings");
	p->listed = true;
	findprint_finding(r, f);
}

static void show_progress(void *arg, uint64_t done, uint64_t total)
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

	if (!ret) {
		findings_watch(c->findings, count_others, p);
		ret = check_volume(c, cx, &run);
	}
	if (p->listed)
		report_end(&p->tool->report);
	if (ret < 0)
		return ret;
	return !ret || has_forbidding(c->findings);
}

/* As precheck_run_for(), with P. */
static int run_precheck(struct precheck *p, struct dev *dev, const char *why)
{
	struct tool *tool = p->tool;
	struct check c = {
		.dev = dev,
		.failed_reads = dev->stats.failed_reads,
		.progress = show_progress,
		.progress_arg = p,
	};
	struct context cx = tool->cx;
	bool spared;
	int ret;

	p->c = &c;
	ret = has_errors(p, &cx, &c);
	spared = ret > 0 && c.vol && !p->others;
	if (ret > 0)
		fail(&cx, 0, "%s", why);
	if ((!ret || spared) && target_check_volume(&cx, c.vol) == -EUCLEAN) {
		ret = 1;
		spared = false;
	}
	if (ret > 0 && !spared)
		tool_warn(tool, "%s: nothing was changed: %s", tool->argv[0],
			  cx.failure);
	p->c = NULL;
	check_fini(&c);
	findings_close(c.findings);
	if (ret < 0)
		context_adopt(&tool->cx, &cx);
	if (ret <= 0)
		return ret;
	return spared ? PRECHECK_GIVEN : PRECHECK_REFUSED;
}

int precheck_run_for(struct tool *tool, struct dev *dev, const char *why,
		     precheck_given *given, void *arg)
{
	struct precheck p = { .tool = tool, .given = given, .arg = arg };

	return run_precheck(&p, dev, why);
}

int precheck_run(struct tool *tool, struct dev *dev, const char *why)
{
	return precheck_run_for(tool, dev, why, NULL, NULL);
}

int precheck_again(struct tool *tool, struct dev *dev, const char *why)
{
	struct precheck p = { .tool = tool, .unlisted = true };

	return run_precheck(&p, dev, why);
}
