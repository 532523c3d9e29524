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
#include "fsck/undo.h"
#include "log/newsupers.h"

static struct look *current(struct repair *r)
{
	return r->looked ? &r->now : r->first;
}

#define NO_FLOOR (-1)	/* -EPERM, which nothing here fails with */

/*
 * A new log takes the place of logs behind the latest super root, which have
 * what was synchronized last.  A mount brings that back; nobody but the user may
 * give it up.
 */
static bool may_write_log(const struct repair *r, const struct look *l)
{
	return r->ask.mode != DECISION_MODE_SAFE || !l->check.vol ||
	       !l->check.vol->latest.orphans_start;
}

/* The lowest floor that has something to be mended, or NO_FLOOR. */
static int next_floor(struct repair *r)
{
	const struct plan *plan = &current(r)->plan;
	const struct fixer *fixer;
	int floor = NO_FLOOR;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		if (!plan->kinds[i].n || r->given_up[i])
			continue;
		fixer = fixers_of((enum rule_fix)i);
		if (floor < 0 || (int)fixer->floor < floor)
			floor = (int)fixer->floor;
	}
	if (floor > FIXER_DEVICE && !may_write_log(r, current(r)))
		return NO_FLOOR;
	return floor;
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
	kept_fini(&r->kept);
	err = look_run(&r->now, r->tool, r->o, r->dev, kept_add, &r->kept,
		       true);
	if (!err) {
		ask_forget(&r->ask, &r->now.plan);
		give_up(r, floor, &before);
	}
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

static const char *const floors[] = {
	[FIXER_DEVICE] = "superblocks",
	[FIXER_METADATA] = "metadata",
	[FIXER_TREE] = "files",
	[FIXER_NAMES] = "names",
	[FIXER_COUNTS] = "counts",
};

/* The next floor of which the user wants something, NO_FLOOR, or -EINTR. */
static int ask_for_floor(struct repair *r, struct context *cx)
{
	int floor, err;

	do {
		floor = next_floor(r);
		if (floor < 0)
			return NO_FLOOR;
		err = ask_floor(&r->ask, cx, &current(r)->plan,
				(enum fixer_floor)floor);
		if (err)
			return err;
	} while (next_floor(r) != floor);
	return floor;
}

static int run_rounds(struct repair *r, struct context *cx)
{
	int i, floor, err = 0;

	for (i = 0; i < REPAIR_ROUNDS && !err; i++) {
		floor = ask_for_floor(r, cx);
		if (floor < 0)
			return floor == NO_FLOOR ? 0 : floor;
		tool_detail(r->tool, "round %d of repairs: %s", i + 1,
			    floors[floor]);
		progress_begin(&r->tool->progress, "mending", 0, false);
		err = mend_floor(r, cx, floor);
		progress_end(&r->tool->progress);
		if (!err)
			err = look_again(r, floor);
	}
	return err;
}

/* Superblocks with STATE, on the overlay. */
static int write_state(struct repair *r, struct context *cx,
		       unsigned int state)
{
	struct volume *vol = current(r)->check.vol;
	struct nilfs_super_block sb = *volume_super(vol);

	sb.s_state = le16_make((uint16_t)state);
	sb.s_wtime = le64_make((uint64_t)cx->now);
	sb.s_sum = le32_make(super_checksum(&sb));
	vol->super[vol->super_used] = sb;
	return newsupers_write(cx, r->dev, &sb, round_offset2(vol));
}

/*
 * A volume without errors says of itself that it was left clean, and no longer
 * that there were errors.
 */
static int settle_state(struct repair *r, struct context *cx)
{
	const struct look *l = current(r);
	unsigned int before, state;
	int ret;

	if (!l->check.vol ||
	    findings_count_severity(l->check.findings, RULE_ERROR))
		return 0;
	before = le16_get(volume_super(l->check.vol)->s_state);
	state = overlay_bytes(r->dev) ? before | NILFS_VALID_FS : before;
	if (l->state_error) {
		ret = ask_state(&r->ask, cx);
		if (ret < 0)
			return ret;
		if (ret)
			state &= ~(unsigned int)NILFS_ERROR_FS;
	}
	if (state == before)
		return 0;
	ret = write_state(r, cx, state);
	if (ret || !(before & ~state))
		return ret;
	mended_add(&r->mended, "superblocks: no longer say that there were "
		   "errors");
	return look_again(r, FIXER_DEVICE);
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
	const struct volume *vol = current(r)->check.vol;
	static const uint8_t unknown[16];
	int err = context_cancelled(cx);

	if (!err && r->o->undo_file)
		err = undo_save(cx, r->o->undo_file, r->dev, r->under, supers,
				vol ? volume_super(vol)->s_uuid : unknown);
	return err ? err : overlay_commit_last(r->dev, cx, supers, 2);
}

void repair_fini(struct repair *r)
{
	look_fini(&r->now);
	mended_fini(&r->mended);
	kept_fini(&r->kept);
}
