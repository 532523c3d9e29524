// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flipped bits are corrected before anything else is repaired.
 *
 * A flipped bit in the latest log makes the volume look as if that log had
 * never been written; every other repair would start from an older state.
 *
 * The checksum of a log of 8 MiB takes one damage of another kind in 64 for a
 * flipped bit.  In metadata the passes see whether a correction was one.  In
 * file data nobody can, so bits there are corrected only if no error is left
 * then: whatever else was damaged in the log would be an explanation, too.
 */
#include "fsck/apply/bitround.h"

#include <stdlib.h>

#include "dev/overlay.h"

/* Those that the passes can judge come first: how many. */
static size_t sort_by_danger(struct plan_kind *k)
{
	size_t i, n = 0;

	for (i = 0; i < k->n; i++) {
		struct fix fix = k->fixes[i];

		if (rule_info(fix.rule)->danger != RULE_DANGER_SAFE)
			continue;
		k->fixes[i] = k->fixes[n];
		k->fixes[n++] = fix;
	}
	return n;
}

/* Errors, but that the checksum of some other log does not match. */
static bool has_errors(const struct look *l)
{
	const struct findings *f = l->check.findings;

	return !l->complete || findings_count_severity(f, RULE_ERROR) >
				       findings_count(f, RULE_LOG_DATASUM);
}

static void forget_look(struct repair *r)
{
	look_fini(r->now);
	free(r->now);
	r->now = NULL;
}

/* The first N: 1 where they stay, 0 where not, or a failure. */
static int correct(struct repair *r, struct context *cx, size_t n,
		   bool no_errors)
{
	size_t mark = overlay_mark(r->dev), nmended = r->mended.n;
	struct fixer_job job = repair_job(r, cx);
	int ret = fix_bits(&job, cx, job.plan->kinds[RULE_FIX_BITS].fixes, n);

	if (!ret && overlay_mark(r->dev) != mark)
		ret = repair_look(r, cx);
	if (ret > 0 && no_errors && has_errors(r->now)) {
		forget_look(r);
		ret = 0;
	}
	if (!ret) {
		overlay_rewind(r->dev, mark);
		mended_rewind(&r->mended, nmended);
	}
	return repair_tolerate(r, cx, ret);
}

int bitround_run(struct repair *r, struct context *cx)
{
	struct plan_kind *k = &r->first->plan.kinds[RULE_FIX_BITS];
	size_t nsafe;
	int ret = 0;

	if (k->n && !repair_is_cut_off(r->first))
		ret = ask_stage(&r->ask, cx, &r->first->plan, RULE_STAGE_BITS);
	nsafe = ret ? 0 : sort_by_danger(k);
	if (!ret && k->n > nsafe)
		ret = correct(r, cx, k->n, true);
	if (!ret && nsafe)
		ret = correct(r, cx, nsafe, false);
	r->given_up[RULE_FIX_BITS] = true;
	return ret < 0 ? ret : 0;
}
