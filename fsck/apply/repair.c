// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds of repairs and checks.
 *
 * A round repairs one stage, the first one with something to repair, because
 * findings at later ones depend on it; with it the superblock by which the volume
 * was not opened, on which nothing depends.  Then all passes check the overlay.  A
 * round that did not improve the volume, or failed, is taken back; if it had
 * several kinds of repair they are tried one by one.  A kind that leaves as
 * many findings as before is dropped, and the rounds continue without it.  So
 * each round that is kept has improved the volume, and what is written to the
 * device was checked as a whole.
 *
 * A round without a free segment.
 *
 * It is first tried without dropping old checkpoints.  Then a few of their
 * segments are used, and more if that is not enough.  The overwritten blocks
 * belonged to the volume, so all of them must be saved in an undo file, and the
 * user must have accepted losses.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "dev/overlay.h"
#include "dev/zone.h"
#include "disk/super.h"
#include "fsck/apply/improvement.h"
#include "fsck/apply/repairlist.h"
#include "fsck/apply/round.h"
#include "fsck/apply/undo.h"
#include "fsck/plan/fixers.h"

/* Number of segments to use, first and last attempt. */
#define RECLAIM_FIRST 2u
#define RECLAIM_MAX 2048u

/* Whether old checkpoints may be written over. */
static bool may_reclaim(const struct repair *r)
{
	return r->o->undo_file && decision_of(r->ask.mode,
					      RULE_DANGER_LOSES) ==
					  DECISION_REPAIR;
}

int repair_run_round(struct repair *r, struct context *cx, struct round *round)
{
	size_t mark = overlay_mark(r->dev), nrepaired = r->repaired.n;
	int err = round_run(round, cx);

	r->no_room |= err == -ENOSPC;
	for (round->reclaim = RECLAIM_FIRST; err == -ENOSPC && may_reclaim(r) &&
	     round->reclaim <= RECLAIM_MAX; round->reclaim *= 4) {
		overlay_rewind(r->dev, mark);
		repairlist_rewind(&r->repaired, nrepaired);
		fail_clear(cx);
		err = round_run(round, cx);
	}
	return err;
}

struct look *repair_current(const struct repair *r)
{
	return r->now ? r->now : r->first;
}

#define NO_STAGE (-1)	/* -EPERM, which nothing here fails with */

bool repair_is_cut_off(const struct look *l)
{
	const struct volume *vol = l->check.vol;
	struct nilfs_geometry geo;

	if (!vol)
		return findings_count(l->check.findings, RULE_SB_DEVICE_SIZE);
	return super_geometry(volume_super(vol), vol->dev->size, &geo) ==
	       RULE_SB_DEVICE_SIZE;
}

/*
 * A new log takes the place of logs after the latest super root, which have
 * what was synchronized last, or newer checkpoints past a damaged log.  A
 * mount brings that back; only the user may give it up.  On zones a mount
 * fails to do away with them, so those that have nothing to be brought back
 * are no reason to wait.
 */
static bool may_write_log(const struct repair *r, const struct look *l)
{
	const struct recovery *latest;

	if (!l->complete)
		return false;
	latest = &l->check.vol->latest;
	if (r->ask.mode != DECISION_MODE_SAFE)
		return true;
	if (findings_count(l->check.findings, RULE_LOG_CHAIN))
		return false;
	if (!latest->orphans_start)
		return true;
	return r->dev->zones && (r->no_data_behind || !latest->orphans_end);
}

/*
 * Nothing may be written over a DAT that leads nowhere, or takes numbers that
 * are in use for free.
 */
static bool is_dat_unsafe(const struct look *l)
{
	return l->check.dat_broken ||
	       findings_have_stage(l->check.findings, RULE_STAGE_NUMBERS);
}

/* A log would restore the first superblock, which was not requested. */
static bool is_wiped(const struct repair *r)
{
	return findings_count(repair_current(r)->check.findings, RULE_SB_WIPED);
}

bool repair_may_log(const struct repair *r)
{
	const struct look *l = repair_current(r);

	return may_write_log(r, l) && !is_dat_unsafe(l) && !is_wiped(r) &&
	       !repair_is_cut_off(l);
}

/*
 * Whether superblocks need no round of their own: what is wrong is the one by
 * which the volume was not opened, and hides nothing.
 */
static bool is_super_spare(const struct repair *r)
{
	const struct look *l = repair_current(r);
	const struct plan_kind *k = &l->plan.kinds[RULE_FIX_SUPER];
	bool wiped = is_wiped(r);
	size_t i;

	if (!l->complete || l->plan.kinds[RULE_FIX_ROOT].n)
		return false;
	for (i = 0; i < k->n; i++) {
		if (k->fixes[i].place.kind != PLACE_SUPER ||
		    k->fixes[i].place.number ==
			    (uint64_t)l->check.vol->super_used)
			return false;
		wiped &= k->fixes[i].rule != RULE_SB_WIPED;
	}
	return k->n && !wiped && !r->given_up[RULE_FIX_SUPER];
}

/* The first stage, from FIRST on, that has something to be repaired, or
   NO_STAGE. */
static int stage_from(const struct repair *r, int first)
{
	const struct plan *plan = &repair_current(r)->plan;
	int stage = NO_STAGE, of_kind;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		if (!plan->kinds[i].n || r->given_up[i])
			continue;
		of_kind = (int)rule_stage_of_fix((enum rule_fix)i);
		if (of_kind >= first && (stage < 0 || of_kind < stage))
			stage = of_kind;
	}
	if (repair_is_cut_off(repair_current(r)) ||
	    (stage > RULE_STAGE_DEVICE && is_wiped(r) &&
	     first <= RULE_STAGE_DEVICE) ||
	    (stage > RULE_STAGE_DEVICE && stage != RULE_STAGE_ZONES &&
	     !may_write_log(r, repair_current(r))))
		return NO_STAGE;
	if (stage > RULE_STAGE_DAT && is_dat_unsafe(repair_current(r)))
		return NO_STAGE;
	return stage;
}

/* Whether the superblocks are repaired in the same round as STAGE. */
static bool takes_super(const struct repair *r, int stage)
{
	return stage > RULE_STAGE_DEVICE && !r->apart[stage] &&
	       is_super_spare(r);
}

/* The stage of the next round, or NO_STAGE. */
static int next_stage(const struct repair *r)
{
	int stage = stage_from(r, 0), after;

	if (stage != RULE_STAGE_DEVICE || !is_super_spare(r))
		return stage;
	after = stage_from(r, RULE_STAGE_DEVICE + 1);
	return takes_super(r, after) ? after : stage;
}

/* The kinds of STAGE that are repaired in a round: how many. */
static unsigned int take_answers(struct repair *r, int stage,
				 bool taken[RULE_FIX_COUNT])
{
	const struct plan *plan = &repair_current(r)->plan;
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		taken[i] = ((int)rule_stage_of_fix((enum rule_fix)i) == stage ||
			    (i == RULE_FIX_SUPER && takes_super(r, stage))) &&
			   plan->kinds[i].n && !r->given_up[i] &&
			   !(r->apart[stage] && n);
		n += taken[i];
	}
	return n;
}

void repair_forget(struct repair *r, struct look **lp)
{
	if (*lp && *lp != r->first) {
		look_fini(*lp);
		free(*lp);
	}
	*lp = NULL;
}

int repair_try(struct repair *r, struct context *cx,
	       enum improvement_demand demand, struct look **beforep)
{
	struct look *now = calloc(1, sizeof(*now)), *before = repair_current(r);
	const struct rule_info *worse;
	int ret;

	if (!now)
		return fail(cx, -ENOMEM, "repair");
	now->mode = before->mode;
	now->first = r->first;
	now->awaited = &r->awaited;
	now->state = &r->state;
	ret = look_run(now, r->tool, r->o, r->dev, NULL, NULL);
	if (!ret)
		ret = improvement_meets(&now->check, &before->check, demand,
					&worse);
	if (!ret && demand == IMPROVEMENT_ONLY)
		tool_detail(r->tool, "no better than before: %s",
			    worse ? worse->slug : "no improvement");
	if (ret > 0) {
		int err = accounting_note(r, cx, now);

		ask_forget(&r->ask, &now->plan);
		r->now = now;
		r->looks++;
		*beforep = before;
		return err ? err : ret;
	}
	repair_forget(r, &now);
	return ret;
}

int repair_swap(struct repair *r, struct context *cx, struct look **look)
{
	struct look *now = repair_current(r);

	r->now = *look == r->first ? NULL : *look;
	*look = now;
	return accounting_note(r, cx, repair_current(r));
}

/* The result: 1 and R->now if it meets DEMAND, 0, or a failure. */
static int look_again(struct repair *r, struct context *cx,
		      enum improvement_demand demand)
{
	struct look *before = NULL;
	int ret = repair_try(r, cx, demand, &before);

	repair_forget(r, &before);
	return ret;
}

int repair_look(struct repair *r, struct context *cx)
{
	return look_again(r, cx, IMPROVEMENT_OR_SAME);
}

int repair_improves(struct repair *r, struct context *cx)
{
	return look_again(r, cx, IMPROVEMENT_ONLY);
}

int repair_resume(struct repair *r, struct context *cx)
{
	int ret = look_again(r, cx, IMPROVEMENT_ANY);

	return ret < 0 ? ret : 0;
}

struct fixer_job repair_job(struct repair *r, struct context *cx)
{
	struct look *l = repair_current(r);

	return (struct fixer_job){
		.check = &l->check,
		.dev = r->dev,
		.vol = l->check.vol,
		.plan = &l->plan,
		.time = (uint64_t)cx->now,
		.rebuild = r->o->rebuild,
		.undo = r->o->undo_file,
		.state = &r->state,
		.state_number = r->state_number,
		.keeps_synced = r->synced,
		.revived = &r->revived,
		.note = repairlist_add,
		.arg = &r->repaired,
	};
}

/* Whether the user has said that checkpoints or inodes may be lost. */
static bool may_lose(const struct repair *r)
{
	const struct ask *a = &r->ask;

	return decision_of(a->mode, RULE_DANGER_LOSES) == DECISION_REPAIR ||
	       a->answers[RULE_FIX_CHECKPOINTS][RULE_DANGER_LOSES] == ASK_YES ||
	       a->answers[RULE_FIX_INODES][RULE_DANGER_LOSES] == ASK_YES;
}

static int repair_stage(struct repair *r, struct context *cx, int stage,
			const bool taken[RULE_FIX_COUNT])
{
	struct round round = {
		.job = repair_job(r, cx),
		.stage = (enum rule_stage)stage,
		.taken = taken,
		.may_lose = may_lose(r),
	};
	int err;

	progress_begin(&r->tool->progress, "repairing", 0, false);
	err = repair_run_round(r, cx, &round);
	progress_end(&r->tool->progress);
	return err;
}

static void count_kinds(struct repair *r,
			struct plan_count found[RULE_FIX_COUNT])
{
	const struct look *l = repair_current(r);
	uint64_t cno = l->check.vol ? l->check.vol->latest.cno : 0;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		found[i] = plan_count(&l->plan.kinds[i], cno);
}

int repair_tolerate(struct repair *r, struct context *cx, int ret)
{
	if (!damage_is(ret) && ret != -ENOSPC)
		return ret;
	tool_detail(r->tool, "%s", cx->failure);
	fail_clear(cx);
	return 0;
}

/*
 * The round came to nothing, by the fault of one of the kinds TAKEN; IDLE: it
 * did not write anything.
 */
static void refuse_fixes(struct repair *r, int stage,
			 const bool taken[RULE_FIX_COUNT], unsigned int ntaken,
			 bool idle)
{
	size_t i;

	if (ntaken > 1) {
		r->apart[stage] = true;
		return;
	}
	for (i = 0; i < RULE_FIX_COUNT; i++) {
		r->given_up[i] |= taken[i];
		r->idle[i] |= taken[i] && idle;
	}
}

/*
 * A round stays.  What had come to nothing because there was nothing that it
 * could do may have it now, and costs no look if not.
 */
static void accept_fixes(struct repair *r, const bool taken[RULE_FIX_COUNT],
			 const struct plan_count before[RULE_FIX_COUNT])
{
	struct plan_count now[RULE_FIX_COUNT];
	size_t i;

	count_kinds(r, now);
	for (i = 0; i < RULE_FIX_COUNT; i++) {
		r->given_up[i] &= !r->idle[i];
		r->idle[i] = false;
		r->given_up[i] |= taken[i] &&
				  plan_is_no_less(&now[i], &before[i]);
	}
}

/*
 * Repairs the kinds TAKEN and checks: 1 if that is better, 0, or a failure.
 * The result for a state that was chosen is known after all rounds only.
 */
static int try_round(struct repair *r, struct context *cx, int stage,
		     const bool taken[RULE_FIX_COUNT])
{
	size_t mark = overlay_mark(r->dev);
	bool chosen = r->state.chosen;
	int ret = repair_stage(r, cx, stage, taken);

	chosen = r->state.chosen && !chosen;
	if (!ret && overlay_mark(r->dev) != mark)
		ret = look_again(r, cx,
				 chosen ? IMPROVEMENT_ANY : IMPROVEMENT_ONLY);
	if (ret > 0 && chosen)
		r->state.overwritten = findings_have(
			repair_current(r)->check.findings, RULE_OVERWRITTEN);
	return repair_tolerate(r, cx, ret);
}

static int run_round(struct repair *r, struct context *cx, int stage)
{
	size_t mark = overlay_mark(r->dev), nrepaired = r->repaired.n;
	struct plan_count before[RULE_FIX_COUNT];
	struct root_state state = r->state;
	bool taken[RULE_FIX_COUNT];
	unsigned int n = take_answers(r, stage, taken);
	int ret;

	count_kinds(r, before);
	ret = try_round(r, cx, stage, taken);
	if (ret > 0) {
		accept_fixes(r, taken, before);
		return 0;
	}
	if (!ret) {
		refuse_fixes(r, stage, taken, n, overlay_mark(r->dev) == mark);
		overlay_rewind(r->dev, mark);
		repairlist_rewind(&r->repaired, nrepaired);
		r->state = state;
	}
	return ret;
}

static const char *const stages[] = {
	[RULE_STAGE_BITS] = "flipped bits",
	[RULE_STAGE_DEVICE] = "superblocks",
	[RULE_STAGE_DAT] = "DAT",
	[RULE_STAGE_METADATA] = "metadata",
	[RULE_STAGE_TREE] = "files",
	[RULE_STAGE_NAMES] = "names",
	[RULE_STAGE_MOVES] = "moves",
	[RULE_STAGE_COUNTS] = "counts",
	[RULE_STAGE_ZONES] = "zones",
};

/* The next stage of which the user wants something, NO_STAGE, or -EINTR. */
static int ask_for_stage(struct repair *r, struct context *cx)
{
	int stage, err;

	do {
		stage = next_stage(r);
		if (stage < 0)
			return NO_STAGE;
		err = 0;
		if (takes_super(r, stage))
			err = ask_stage(&r->ask, cx, &repair_current(r)->plan,
					RULE_STAGE_DEVICE);
		if (!err)
			err = ask_stage(&r->ask, cx, &repair_current(r)->plan,
					(enum rule_stage)stage);
		if (err)
			return err;
	} while (next_stage(r) != stage);
	return stage;
}

static int run_rounds(struct repair *r, struct context *cx)
{
	int stage, err = 0;

	while (r->rounds < REPAIR_ROUNDS && !err) {
		err = forward_first(r, cx);
		if (!err)
			err = derivation_run(r, cx);
		if (err)
			return err;
		stage = ask_for_stage(r, cx);
		if (stage < 0)
			return stage == NO_STAGE ? 0 : stage;
		r->rounds++;
		tool_detail(r->tool, "round %u of repairs: %s", r->rounds,
			    stages[stage]);
		err = run_round(r, cx, stage);
	}
	return err;
}

int repair_rounds(struct repair *r, struct context *cx)
{
	int err = run_rounds(r, cx);

	return err ? err : forward_last(r, cx);
}

static void forget_refused(struct repair *r)
{
	r->rounds = 0;
	memset(r->given_up, 0, sizeof(r->given_up));
	memset(r->idle, 0, sizeof(r->idle));
	memset(r->apart, 0, sizeof(r->apart));
}

int repair_again(struct repair *r, struct context *cx)
{
	forget_refused(r);
	return repair_rounds(r, cx);
}

static void forget_synced(struct repair *r)
{
	bitmap_fini(&r->awaited);
	rollforward_free(r->synced);
	r->synced = NULL;
}

void repair_restart(struct repair *r, size_t mark)
{
	repair_forget(r, &r->now);
	forget_synced(r);
	overlay_rewind(r->dev, mark);
	repairlist_rewind(&r->repaired, 0);
	r->state.chosen = false;
	r->looks++;
	r->asked_synced = r->no_data_behind = false;
	forget_refused(r);
}

/* What leaves next to nothing is no repair, unless all is to be rebuilt. */
static void weigh_losses(struct repair *r, struct context *cx)
{
	if (!r->now || r->o->rebuild ||
	    !improvement_loses_most(cx, &r->now->check, &r->first->check,
				    &r->losses))
		return;
	r->grave = true;
	overlay_drop(r->dev);
}

int repair_run(struct repair *r, struct context *cx)
{
	int err = fix_bits_run(r, cx);

	if (!err && r->ask.mode == DECISION_MODE_SAFE && is_wiped(r)) {
		overlay_drop(r->dev);
		return 0;
	}
	if (!err && !r->now)
		err = states_choose_super(r, cx);
	if (!err)
		err = states_run(r, cx);
	if (!err)
		err = giveup_run(r, cx);
	if (!err)
		weigh_losses(r, cx);
	if (!err && !r->grave)
		err = accounting_settle(r, cx);
	return err ? err : overlay_is_changed(r->dev);
}

/* In a sequential zone there is a segment in its place. */
static unsigned int count_supers(const struct repair *r, uint64_t offset2)
{
	return zone_is_in_place(r->dev->zones, offset2) ? 2 : 1;
}

static bool is_valid_super(const struct repair *r, struct context *cx,
			   uint64_t offset)
{
	struct nilfs_super_block sb;
	int err = dev_read(r->under, cx, offset, &sb, sizeof(sb));

	fail_clear(cx);
	return !err && super_check(&sb) == RULE_OK;
}

/* The first superblock is written last where the other one is not valid. */
static int commit(struct repair *r, struct context *cx,
		  const uint64_t supers[2])
{
	const uint64_t second_first[2] = { supers[1], supers[0] };
	unsigned int n = count_supers(r, supers[1]);
	bool alone = n == 2 && !is_valid_super(r, cx, supers[1]);

	return overlay_commit_last(r->dev, cx, alone ? second_first : supers,
				   n);
}

int repair_commit(struct repair *r, struct context *cx)
{
	const uint64_t supers[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(r->dev->size)
	};
	const struct volume *vol = repair_current(r)->check.vol;
	struct undo_volume saved = { .supers = { supers[0], supers[1] } };
	int err = context_cancelled(cx);

	if (vol) {
		memcpy(saved.uuid, volume_super(vol)->s_uuid,
		       sizeof(saved.uuid));
		saved.block_size = 1u << vol->geo.block_bits;
	}
	if (!err && r->o->undo_file)
		err = undo_save(cx, r->o->undo_file, r->dev, r->under, &saved);
	return err ? err : commit(r, cx, supers);
}

void repair_fini(struct repair *r)
{
	repair_forget(r, &r->now);
	forget_synced(r);
	bitmap_fini(&r->used);
	bitmap_fini(&r->broken);
	repairlist_fini(&r->repaired);
	losslist_fini(&r->account);
}
