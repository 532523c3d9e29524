// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two superblocks that contradict each other.
 *
 * Both have a checksum that is right, and one says of the layout what is not
 * so.  The volume was opened by that which the kernel takes.  If that is the
 * wrong one, sound metadata looks broken, and to mend it would be the end of
 * the volume: checkpoints of another size than they have are none.  So the
 * other one is tried first, and is right where it finds nothing wrong.
 */
#include "fsck/apply/superchoice.h"

#include <errno.h>
#include <stdlib.h>

#include "dev/overlay.h"
#include "fsck/apply/round.h"

static uint64_t count_errors(const struct look *l)
{
	return findings_count_severity(l->check.findings, RULE_ERROR);
}

/* Whether they differ, and something else is wrong. */
static bool is_due(const struct repair *r)
{
	const struct look *l = r->first;
	uint64_t differ = findings_count(l->check.findings, RULE_SB_COPIES);

	return l->complete && differ && count_errors(l) > differ &&
	       l->plan.kinds[RULE_FIX_SUPER].n;
}

/* Looks at the overlay: 1 where nothing is wrong, 0 where not, a failure. */
static int look(struct repair *r, struct context *cx)
{
	struct look *now = calloc(1, sizeof(*now));
	int ret;

	if (!now)
		return fail(cx, -ENOMEM, "repair");
	now->mode = r->first->mode;
	now->awaited = &r->awaited;
	now->state = &r->state;
	ret = look_run(now, r->tool, r->o, r->dev, NULL, NULL);
	if (!ret && now->complete && !count_errors(now)) {
		r->now = now;
		return 1;
	}
	look_fini(now);
	free(now);
	return ret;
}

static int try_other(struct repair *r, struct context *cx)
{
	struct round round = {
		.job = repair_job(r, cx),
		.stage = RULE_STAGE_DEVICE,
		.instead = fix_super_other,
	};
	int err = round_run(&round, cx);

	return err ? err : look(r, cx);
}

int superchoice_run(struct repair *r, struct context *cx)
{
	size_t mark = overlay_mark(r->dev), nmended = r->mended.n;
	int ret;

	if (!is_due(r))
		return 0;
	ret = ask_stage(&r->ask, cx, &r->first->plan, RULE_STAGE_DEVICE);
	if (ret || !is_due(r))
		return ret;
	ret = try_other(r, cx);
	if (!ret) {
		overlay_rewind(r->dev, mark);
		mended_rewind(&r->mended, nmended);
	}
	return ret < 0 ? ret : 0;
}
