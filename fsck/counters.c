// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters rebuilt without any other repair.
 *
 * A kernel knows nothing of live-block counts and leaves them behind, so to
 * count again is no rare thing, and the tree of files has no part in it: only
 * the passes run that show whether DAT, logs and checkpoints can be counted
 * on.  Everything is compared with what it should be, and where nothing
 * differs nothing is written.
 */

#include <errno.h>

#include "dev/overlay.h"
#include "fsck/apply/repair.h"
#include "fsck/apply/round.h"
#include "fsck/plan/fixers.h"
#include "fsck/plan/look.h"
#include "fsck/session.h"
#include "log/repairwriter.h"
#include "vol/sutable.h"

/* Errors of the SUFILE are what is to be repaired; zones can wait. */
static bool has_other_errors(const struct check *c)
{
	const struct rule_info *rule;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		if (rule->severity >= RULE_ERROR &&
		    rule->fix != RULE_FIX_SEGMENTS &&
		    rule->second != RULE_FIX_SEGMENTS &&
		    rule->fix != RULE_FIX_COUNTS &&
		    rule->fix != RULE_FIX_ZONES && rule->fix != RULE_FIX_LOG &&
		    findings_count(c->findings, rule->rule))
			return true;
	return !c->vol || c->dat_broken;
}

/* In place of all fixers. */
static int rebuild_counters(struct fixer_job *job, struct context *cx,
			    const struct fix *fixes, size_t n)
{
	const struct fix recount = { .rule = RULE_SU_NLIVE };
	uint64_t changed;
	void *header;
	bool stale;
	int err = fix_segments_all(job, cx, NULL, &changed);

	(void)fixes;
	(void)n;
	if (!err)
		err = fix_counts(job, cx, &recount, 1);
	if (err)
		return err;
	/* Whether the header alone is reason to write one. */
	stale = job->vol->geo.has_live_blks &&
		sutable_is_exact(job->vol, cx) != 1;
	fail_clear(cx);
	if (stale || findings_count(job->check->findings, RULE_SU_NCLEAN) ||
	    findings_count(job->check->findings, RULE_SU_NDIRTY)) {
		fixers_note(job, "segment usage file: header rebuilt");
		err = metafile_change(
			repairwriter_file(job->writer, NILFS_SUFILE_INO), cx, 0,
			&header, NULL);
	}
	return err ? err : repairwriter_changed(job->writer, cx);
}

static int run_rebuild(struct repair *r, struct context *cx)
{
	struct report *report = &r->tool->report;
	struct look *l = r->first;
	struct round round = {
		.stage = RULE_STAGE_METADATA,
		.begin = rebuild_counters,
	};
	int ret;

	report_list(report, "findings");
	ret = look_run(l, r->tool, r->o, r->dev, true);
	if (ret)
		return ret;
	report_end(report);
	if (has_other_errors(&l->check)) {
		tool_note(r->tool, "%s: nothing was counted: its errors are to "
			  "be repaired first", r->tool->argv[0]);
		return SESSION_UNCORRECTED;
	}
	if (l->check.vol->latest.orphans_start)
		return fail(cx, -EBUSY, "%s: was not unmounted; a mount or -y "
			    "comes first", r->tool->argv[0]);
	round.job = repair_job(r, cx);
	ret = round_run(&round, cx);
	if (!ret && overlay_is_changed(r->dev))
		ret = repair_commit(r, cx) ?: SESSION_REPAIRED;
	if (!ret)
		tool_note(r->tool, "%s: the counters of all segments are right",
			  r->tool->argv[0]);
	if (ret >= 0)
		repairlist_report(&r->repaired, report);
	return ret;
}

int counters_run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct look l = { .mode = DECISION_MODE_NO };
	struct repair r = {
		.tool = tool, .o = o, .under = dev, .first = &l,
	};
	int ret = overlay_open(&r.dev, &tool->cx, dev);

	tool_promise(tool);
	if (!ret)
		ret = run_rebuild(&r, &tool->cx);
	repair_fini(&r);
	look_fini(&l);
	dev_close(r.dev);
	return ret;
}
