// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds of repairs and checks.
 *
 * A round repairs the first stage with something to repair, because findings at
 * later stages depend on it, together with findings that nothing depends on
 * (stages.c). Then all passes check the overlay. A round that failed or did not
 * improve the volume is undone, and its stages or kinds of repair are tried one
 * by one. A kind that leaves as many findings as before is dropped. So the
 * device only gets changes that were checked as a whole.
 *
 * Without a free segment a round is tried with a few segments of old
 * checkpoints, then with more. Those belonged to the volume, so there must be
 * an undo file, and the user must have accepted losses.
 *
 * Nothing is printed before the commit, because a repair that is undone must
 * not be reported. If memory is exhausted, a message is dropped, not the
 * repair.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "dev/overlay.h"
#include "dev/zone.h"
#include "disk/super.h"
#include "fsck/apply/undo.h"

/* The number of segments to take, in the first and the last attempt. */
#define RECLAIM_FIRST 2u
#define RECLAIM_MAX 2048u

struct look *repair_current(const struct repair *r)
{
	return r->now ? r->now : r->first;
}

bool repair_is_cut_off(const struct look *l)
{
	const struct volume *vol = l->check.vol;
	struct nilfs_geometry geo;

	if (!vol)
		return findings_count(l->check.findings, RULE_SB_DEVICE_SIZE);
	return super_geometry(volume_super(vol), vol->dev->size, &geo) ==
	       RULE_SB_DEVICE_SIZE;
}

void repair_note(void *arg, const char *text)
{
	struct repair *r = arg;
	size_t *n = &r->repaired.n;

	if (*n < REPAIR_LINES_MAX &&
	    array_has_room(&r->repaired.lines, &r->repaired.room, *n) &&
	    (r->repaired.lines[*n] = strdup(text)))
		++*n;
	else
		r->repaired.more++;
}

/* Drops all messages except the first N. */
static void forget_lines(struct repair *r, size_t n)
{
	while (r->repaired.n > n)
		free(r->repaired.lines[--r->repaired.n]);
}

void repair_report(const struct repair *r, struct report *report)
{
	bool text = report_is_text(report);
	size_t i;

	if (!text)
		report_list(report, "repairs");
	for (i = 0; i < r->repaired.n; i++) {
		if (text) {
			report_text(report, "repaired: %s",
				    r->repaired.lines[i]);
			continue;
		}
		report_begin(report, "repair", NULL);
		report_string(report, "text", "Text", r->repaired.lines[i]);
		report_end(report);
	}
	if (!text)
		report_end(report);
	else if (r->repaired.more)
		report_text(report, "repaired: %" PRIu64 " more",
			    r->repaired.more);
}

static void free_look(const struct repair *r, struct look *l)
{
	if (!l || l == r->first)
		return;
	look_fini(l);
	free(l);
}

void repair_forget(struct repair *r)
{
	free_look(r, r->now);
	r->now = NULL;
}

int repair_look(struct repair *r, struct context *cx,
		enum improvement_demand demand,
		bool (*accepts)(void *arg, const struct look *now), void *arg)
{
	struct look *now = calloc(1, sizeof(*now)), *before = repair_current(r);
	const struct rule_info *worse;
	int ret;

	if (!now)
		return fail(cx, -ENOMEM, "repair");
	now->mode = before->mode;
	now->first = r->first;
	now->before = before;
	now->awaited = &r->awaited;
	now->state = &r->state;
	ret = look_run(now, r->tool, r->o, r->dev, false);
	if (!ret)
		ret = (now->complete || demand != IMPROVEMENT_SOUND) &&
		      improvement_meets(&now->check, &before->check, demand,
					&worse);
	if (!ret && (demand == IMPROVEMENT_ONLY ||
		     demand == IMPROVEMENT_DERIVED))
		tool_detail(r->tool, "no better than before: %s",
			    worse ? worse->slug : "no improvement");
	plan_forget(&r->ask, &now->plan);
	if (ret <= 0 || (accepts && !accepts(arg, now))) {
		free_look(r, now);
		return ret < 0 ? ret : 0;
	}
	look_judged(now);
	free_look(r, before);
	r->now = now;
	r->looks++;
	ret = accounting_note(r, cx, now);
	return ret ? ret : 1;
}

int repair_resume(struct repair *r, struct context *cx)
{
	int ret = repair_look(r, cx, IMPROVEMENT_ANY, NULL, NULL);

	return ret < 0 ? ret : 0;
}

struct repair_point repair_point(const struct repair *r)
{
	return (struct repair_point){
		.overlay = overlay_mark(r->dev),
		.nrepaired = r->repaired.n,
		.state = r->state,
	};
}

void repair_back(struct repair *r, const struct repair_point *to)
{
	overlay_rewind(r->dev, to->overlay);
	forget_lines(r, to->nrepaired);
	r->state = to->state;
}

int repair_tolerate(struct repair *r, struct context *cx, int ret)
{
	if (!damage_is(ret) && ret != -ENOSPC)
		return ret;
	tool_detail(r->tool, "%s", cx->failure);
	fail_clear(cx);
	return 0;
}

int repair_attempt(struct repair *r, struct context *cx, struct round *round,
		   enum improvement_demand demand)
{
	bool may_reclaim = r->o->undo_file &&
			   decision_of(r->ask.mode, RULE_DANGER_LOSES) ==
				   DECISION_REPAIR;
	struct repair_point from = repair_point(r);
	bool chosen;
	int ret;

	progress_begin(&r->tool->progress, "repairing", 0, false);
	ret = round_run(round, cx);
	r->no_room |= ret == -ENOSPC;
	for (round->reclaim = RECLAIM_FIRST; ret == -ENOSPC && may_reclaim &&
	     round->reclaim <= RECLAIM_MAX; round->reclaim *= 4) {
		repair_back(r, &from);
		fail_clear(cx);
		ret = round_run(round, cx);
	}
	progress_end(&r->tool->progress);
	round->unchanged = overlay_mark(r->dev) == from.overlay;
	/* The result for a chosen state is known only after all rounds. */
	chosen = r->state.chosen && !from.state.chosen;
	if (!ret && !round->unchanged)
		ret = repair_look(r, cx, chosen ? IMPROVEMENT_ANY : demand,
				  NULL, NULL);
	if (ret <= 0)
		repair_back(r, &from);
	else if (chosen)
		r->state.overwritten = findings_have(
			repair_current(r)->check.findings, RULE_OVERWRITTEN);
	return repair_tolerate(r, cx, ret);
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
		.rebuild = r->rebuild,
		.undo = r->o->undo_file,
		.state = &r->state,
		.state_number = r->state_number,
		.synced = r->synced,
		.borrowed = &r->borrowed,
		.note = repair_note,
		.arg = r,
	};
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

static bool is_of_snapshot(const void *latest, const struct finding *fix)
{
	return fix->place.cno && fix->place.cno != *(const uint64_t *)latest;
}

static int run_round(struct repair *r, struct context *cx, int stage)
{
	const struct ask *a = &r->ask;
	struct plan_count before[RULE_FIX_COUNT], now[RULE_FIX_COUNT];
	bool fewer[RULE_FIX_COUNT];
	struct round round = {
		.job = repair_job(r, cx),
		.stage = (enum rule_stage)stage,
		/* The user accepted the loss of checkpoints or inodes. */
		.may_lose =
			decision_of(a->mode, RULE_DANGER_LOSES) ==
				DECISION_REPAIR ||
			a->answers[RULE_FIX_CHECKPOINTS][RULE_DANGER_LOSES] ==
				ASK_YES ||
			a->answers[RULE_FIX_INODES][RULE_DANGER_LOSES] ==
				ASK_YES,
	};
	unsigned int n = stages_take(r, stage, round.taken);
	bool reached = false;
	size_t i;
	int ret;

	count_kinds(r, before);
	ret = repair_attempt(r, cx, &round, IMPROVEMENT_ONLY);
	if (ret < 0)
		return ret;
	if (!ret) {
		/* One of the kinds caused the failure. */
		while (n > 1 && stages_take(r, stage, fewer) >= n)
			r->split[stage]++;
		for (i = 0; i < RULE_FIX_COUNT && n <= 1; i++) {
			struct plan_kind *kind =
				&repair_current(r)->plan.kinds[i];
			size_t all = kind->n;

			if (!round.taken[i])
				continue;
			/* Repairs in the newest checkpoint do not depend on
			   those in snapshots. */
			if (!round.unchanged && round.job.vol)
				plan_refuse(kind, is_of_snapshot,
					    &round.job.vol->latest.cno);
			if (kind->n && kind->n < all)
				continue;
			r->given_up[i] = true;
			r->stale[i] = false;
			r->unchanged[i] |= round.unchanged;
			r->unchanged_with[i] = before[i];
		}
		return 0;
	}
	/*
	 * A kind that had nothing to do may have it now, if the round was not
	 * of a later stage, on which the kind does not depend, or if the
	 * findings changed.
	 */
	count_kinds(r, now);
	/* Kinds are in the order of stages. */
	for (i = 0; i < RULE_FIX_COUNT; i++) {
		reached |= round.taken[i];
		if (r->unchanged[i] &&
		    (reached || !plan_is_no_less(&now[i], &r->unchanged_with[i]) ||
		     !plan_is_no_less(&r->unchanged_with[i], &now[i])))
			r->given_up[i] = r->unchanged[i] = false;
		r->stale[i] = r->given_up[i];
		r->given_up[i] |= round.taken[i] &&
				  plan_is_no_less(&now[i], &before[i]);
	}
	return 0;
}

/* Whether a kind failed before the last round that was kept. It is tried once
   more, when nothing else is left. */
static bool forget_stale(struct repair *r)
{
	bool any = false;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		if (!r->stale[i])
			continue;
		r->given_up[i] = r->stale[i] = false;
		any = true;
	}
	return any;
}

int repair_rounds(struct repair *r, struct context *cx)
{
	static const char *const names[] = {
		[RULE_STAGE_DEVICE] = "superblocks",
		[RULE_STAGE_DAT] = "DAT",
		[RULE_STAGE_METADATA] = "metadata",
		[RULE_STAGE_TREE] = "files",
		[RULE_STAGE_NAMES] = "names",
		[RULE_STAGE_MOVES] = "moves",
		[RULE_STAGE_COUNTS] = "counts",
		[RULE_STAGE_ZONES] = "zones",
	};
	int stage, err = 0;

	memset(r->given_up, 0, sizeof(r->given_up));
	memset(r->unchanged, 0, sizeof(r->unchanged));
	memset(r->stale, 0, sizeof(r->stale));
	memset(r->split, 0, sizeof(r->split));
	for (r->rounds = 0; r->rounds < REPAIR_ROUNDS && !err;) {
		err = forward_first(r, cx);
		if (!err)
			err = derivation_run(r, cx);
		if (err)
			break;
		stage = stages_ask(r, cx);
		if (stage == STAGES_NONE && forget_stale(r))
			continue;
		if (stage == STAGES_NONE)
			break;
		if (stage < 0)
			return stage;
		r->rounds++;
		tool_detail(r->tool, "round %u of repairs: %s", r->rounds,
			    names[stage]);
		err = run_round(r, cx, stage);
	}
	return err ? err : forward_last(r, cx);
}

static void forget_synced(struct repair *r)
{
	bitmap_fini(&r->awaited);
	rollforward_free(r->synced);
	r->synced = NULL;
}

void repair_restart(struct repair *r, size_t mark)
{
	repair_forget(r);
	forget_synced(r);
	overlay_rewind(r->dev, mark);
	forget_lines(r, 0);
	r->state.chosen = false;
	r->looks++;
	r->asked_synced = r->no_data_behind = false;
}

int repair_run(struct repair *r, struct context *cx)
{
	int err = fix_bits_run(r, cx);
	size_t mark = overlay_mark(r->dev);

	if (!err && r->ask.mode == DECISION_MODE_SAFE && stages_is_wiped(r)) {
		overlay_drop(r->dev);
		return 0;
	}
	if (!err)
		err = states_run(r, cx);
	if (!err && r->o->rebuild)
		err = states_rebuild(r, cx, mark);
	/* A repair that loses most of the files is rejected, unless everything
	   is to be rebuilt. */
	r->too_lossy = !err && r->now && !r->o->rebuild &&
		   improvement_loses_most(cx, &r->now->check, &r->first->check,
					  &r->losses);
	if (r->too_lossy)
		overlay_drop(r->dev);
	else if (!err)
		err = accounting_settle(r, cx);
	return err ? err : overlay_is_changed(r->dev);
}

/* In a sequential zone the place of the second superblock is part of a segment.
   The first superblock is written last if the second one is not valid. */
int repair_commit(struct repair *r, struct context *cx)
{
	uint64_t supers[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(r->dev->size)
	};
	const struct volume *vol = repair_current(r)->check.vol;
	struct undo_volume saved = { .supers = { supers[0], supers[1] } };
	unsigned int n = zone_is_in_place(r->dev->zones, supers[1]) ? 2 : 1;
	struct nilfs_super_block second;
	int err = context_cancelled(cx);

	if (vol) {
		memcpy(saved.uuid, volume_super(vol)->s_uuid,
		       sizeof(saved.uuid));
		saved.block_size = 1u << vol->geo.block_bits;
	}
	if (!err && r->o->undo_file)
		err = undo_save(cx, r->o->undo_file, r->dev, r->under, &saved);
	if (err)
		return err;
	if (n == 2 && (dev_read(r->under, cx, supers[1], &second,
				sizeof(second)) ||
		       super_check(&second) != RULE_OK)) {
		supers[0] = saved.supers[1];
		supers[1] = saved.supers[0];
	}
	fail_clear(cx);
	return overlay_commit_last(r->dev, cx, supers, n);
}

void repair_fini(struct repair *r)
{
	repair_forget(r);
	forget_synced(r);
	bitmap_fini(&r->used);
	bitmap_fini(&r->broken);
	forget_lines(r, 0);
	free(r->repaired.lines);
	losslist_fini(&r->account);
	free(r->unset);
}
