// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds of mending and looking again.
 *
 * A round mends one floor, the lowest one that has something to be mended,
 * because what the floors above have to say depends on it.  Then all passes
 * look at the overlay.  A kind of repair after which as much is left of its
 * kind as before is given up, and the rounds go on without it.  In the end the
 * last look is held against the first: what is not better never reaches the
 * device.
 */
#include "fsck/repair.h"

#include <errno.h>
#include <string.h>

#include "dev/overlay.h"
#include "disk/super.h"
#include "fsck/better.h"
#include "fsck/fixers.h"
#include "fsck/round.h"
#include "log/newsupers.h"

static struct look *current(struct repair *r)
{
	return r->looked ? &r->now : r->first;
}

/* The lowest floor that has something to be mended, or -1. */
static int next_floor(struct repair *r)
{
	const struct plan *plan = &current(r)->plan;
	const struct fixer *fixer;
	int floor = -1;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		if (!plan->kinds[i].n || r->given_up[i])
			continue;
		fixer = fixers_of((enum rule_fix)i);
		if (floor < 0 || (int)fixer->floor < floor)
			floor = (int)fixer->floor;
	}
	return floor;
}

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

/* Kinds of FLOOR of which there is as much as in the look BEFORE. */
static void give_up(struct repair *r, int floor, const struct look *before)
{
	const struct fixer *fixer;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		fixer = fixers_of((enum rule_fix)i);
		if (fixer && (int)fixer->floor == floor &&
		    before->plan.kinds[i].n &&
		    r->now.plan.kinds[i].found >= before->plan.kinds[i].found)
			r->given_up[i] = true;
	}
}

static int look_again(struct repair *r, int floor)
{
	struct look before = *current(r);
	bool first = !r->looked;
	int err;

	memset(&r->now, 0, sizeof(r->now));
	r->now.mode = before.mode;
	r->looked = true;
	err = look_run(&r->now, r->tool, r->o, r->dev, ignore, NULL, true);
	if (!err)
		give_up(r, floor, &before);
	if (!first)
		look_fini(&before);
	return err;
}

static int mend_floor(struct repair *r, struct context *cx, int floor)
{
	struct look *l = current(r);
	struct round round = {
		.job = {
			.check = &l->check,
			.dev = r->dev,
			.vol = l->check.vol,
			.plan = &l->plan,
			.time = (uint64_t)cx->now,
			.rebuild = r->o->rebuild,
			.tell = mended_add,
			.arg = &r->mended,
		},
		.floor = (enum fixer_floor)floor,
		.given_up = r->given_up,
	};

	return round_run(&round, cx);
}

static int run_rounds(struct repair *r, struct context *cx)
{
	int i, floor, err = 0;

	for (i = 0; i < REPAIR_ROUNDS && !err; i++) {
		floor = next_floor(r);
		if (floor < 0)
			return 0;
		tool_detail(r->tool, "round %d: floor %d", i + 1, floor);
		err = mend_floor(r, cx, floor);
		if (!err)
			err = look_again(r, floor);
	}
	return err;
}

/* A volume without errors was left clean, and has no word of errors. */
static int settle_state(struct repair *r, struct context *cx)
{
	const struct look *l = current(r);
	const struct volume *vol = l->check.vol;
	struct nilfs_super_block sb;
	unsigned int state;

	if (!vol || findings_count_severity(l->check.findings, RULE_ERROR))
		return 0;
	sb = *volume_super(vol);
	state = le16_get(sb.s_state);
	if (!(state & NILFS_ERROR_FS) || !r->first->state_error)
		return 0;
	mended_add(&r->mended, "superblocks: no longer say that there were "
		   "errors");
	sb.s_state = le16_make((uint16_t)(state & ~NILFS_ERROR_FS));
	sb.s_wtime = le64_make((uint64_t)cx->now);
	sb.s_sum = le32_make(super_checksum(&sb));
	return newsupers_write(cx, r->dev, &sb, round_offset2(vol));
}

int repair_run(struct repair *r, struct context *cx)
{
	int err = run_rounds(r, cx);
	bool better;

	if (err)
		return err;
	better = !r->looked || better_than(&r->now.check, &r->first->check);
	if (better)
		err = settle_state(r, cx);
	return err ? err : better && overlay_bytes(r->dev);
}

int repair_commit(struct repair *r, struct context *cx)
{
	const uint64_t supers[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(r->dev->size)
	};

	return overlay_commit_last(r->dev, cx, supers, 2);
}

void repair_fini(struct repair *r)
{
	look_fini(&r->now);
	mended_fini(&r->mended);
}
