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

#include "base/bitmap.h"
#include "dev/overlay.h"
#include "fsck/apply/repair.h"
#include "fsck/apply/round.h"
#include "fsck/plan/fixers.h"
#include "fsck/plan/look.h"
#include "fsck/session.h"
#include "log/exactcounts.h"
#include "log/repairwriter.h"
#include "vol/sutable.h"

/* What is wrong with the SUFILE is what is to be repaired; zones can wait. */
static bool is_in_the_way(const struct rule_info *rule)
{
	return rule->severity >= RULE_ERROR &&
	       rule->fix != RULE_FIX_SEGMENTS &&
	       rule->second != RULE_FIX_SEGMENTS &&
	       rule->fix != RULE_FIX_COUNTS && rule->fix != RULE_FIX_ZONES &&
	       rule->fix != RULE_FIX_LOG;
}

static bool has_errors(const struct check *c)
{
	const struct rule_info *rule;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		if (is_in_the_way(rule) &&
		    findings_count(c->findings, rule->rule))
			return true;
	return !c->vol || c->dat_broken;
}

/* Whether the header alone is reason to write one. */
static bool is_header_wrong(struct check *c, struct context *cx)
{
	bool stale = c->vol->geo.has_live_blks &&
		     sutable_is_exact(c->vol, cx) != 1;

	fail_clear(cx);
	return stale || findings_count(c->findings, RULE_SU_NCLEAN) ||
	       findings_count(c->findings, RULE_SU_NDIRTY);
}

static int fill_all(struct bitmap *which, struct context *cx, uint64_t n)
{
	uint64_t i;
	int err = bitmap_init(which, cx, n);

	for (i = 0; i < n && !err; i++)
		bitmap_set(which, i);
	return err;
}

/* In place of all fixers. */
static int rebuild_counters(struct fixer_job *job, struct context *cx,
			    const struct fix *fixes, size_t n)
{
	struct bitmap all = { 0 };
	uint64_t changed;
	void *header;
	int err = fill_all(&all, cx, job->vol->geo.nsegments);

	(void)fixes;
	(void)n;
	if (!err)
		err = fix_segments_all(job, cx, &all, &changed);
	if (!err)
		err = exactcounts_count(job->writer, cx, job->vol, job->time,
					&changed);
	if (!err && changed)
		fixers_note(job, "live blocks of %llu segments: counted",
			    (unsigned long long)changed);
	if (!err && is_header_wrong(job->check, cx)) {
		fixers_note(job, "segment usage file: header rebuilt");
		err = metafile_change(
			repairwriter_file(job->writer, NILFS_SUFILE_INO), cx, 0,
			&header, NULL);
	}
	bitmap_fini(&all);
	return err ? err : repairwriter_changed(job->writer, cx);
}

static int counters_recount(struct repair *r, struct context *cx)
{
	struct check *c = &r->first->check;
	struct round round = {
		.job = repair_job(r, cx),
		.stage = RULE_STAGE_METADATA,
		.begin = rebuild_counters,
	};
	int err;

	if (c->vol->latest.orphans_start)
		return fail(cx, -EBUSY, "%s: was not unmounted; a mount or -y "
			    "comes first", r->tool->argv[0]);
	err = round_run(&round, cx);
	if (err || !overlay_is_changed(r->dev))
		return err;
	err = repair_commit(r, cx);
	return err ? err : SESSION_REPAIRED;
}

static int run_rebuild(struct repair *r, struct context *cx)
{
	struct report *report = &r->tool->report;
	struct look *l = r->first;
	int ret;

	report_list(report, "findings");
	ret = look_run(l, r->tool, r->o, r->dev, true);
	if (ret)
		return ret;
	report_end(report);
	if (has_errors(&l->check)) {
		tool_note(r->tool, "%s: nothing was counted: its errors are to "
			  "be repaired first", r->tool->argv[0]);
		return SESSION_UNCORRECTED;
	}
	ret = counters_recount(r, cx);
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
