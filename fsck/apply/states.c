// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choice of the state that is repaired.
 *
 * How much is lost with a state that is damaged cannot be said before it is
 * repaired: a block of metadata may be found again in the logs, or be of a
 * file that is not needed.  To give a state up loses all that was written since
 * the one before it, and with it snapshots.  So each candidate is repaired on
 * the overlay, from the newest on, and the first that comes out without errors
 * is taken.  Where a segment of the state was written again no check can say
 * what files have instead of their blocks; then an older state that is whole is
 * better, and how many files it does not have is reported.  Where none comes out
 * without errors, snapshots may be given up: a newer state without some of them is
 * better than one that no tool takes.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "check/damage.h"
#include "dev/overlay.h"
#include "fsck/apply/improvement.h"
#include "fsck/apply/repair.h"
#include "fsck/apply/round.h"

#define STATES_MAX 8

/* The result of a candidate. */
struct outcome {
	unsigned int number;
	bool gives;		/* snapshots up that cannot be repaired */
	bool complete, dat_broken;
	bool overwritten;	/* some blocks have other content */
	bool files;		/* there are some */
	uint64_t latest, errors; /* without those of snapshots; all */
};

static struct outcome outcome_of(const struct repair *r)
{
	const struct look *l = repair_current(r);

	return (struct outcome){
		.complete = l->complete,
		.dat_broken = l->check.dat_broken,
		.overwritten = r->state.overwritten,
		.files = l->check.files_known && l->check.files,
		.latest = improvement_errors_latest(&l->check),
		.errors = improvement_errors(&l->check),
	};
}

static bool is_good(const struct outcome *o)
{
	return o->complete && !o->errors && !o->overwritten;
}

static bool is_better(const struct outcome *a, const struct outcome *b)
{
	if (a->complete != b->complete)
		return a->complete;
	if (a->dat_broken != b->dat_broken)
		return b->dat_broken;
	if (a->files != b->files)
		return a->files;
	if (a->latest != b->latest)
		return a->latest < b->latest;
	if (a->errors != b->errors)
		return a->errors < b->errors;
	return b->overwritten && !a->overwritten;
}

/* Whether a mount takes the log of the state, after which there is no other:
   1, 0. */
static int is_mounted(struct repair *r, struct context *cx)
{
	struct volume *vol = NULL;
	int err;

	if (!r->state.newest)
		return 0;
	err = volume_open(&vol, cx, r->dev, NULL);
	if (!err)
		err = state_is_at(&r->state, vol->latest.pseg_start,
				  vol->latest.seq) &&
		      !vol->latest.orphans_start;
	volume_close(vol);
	return damage_forgive(cx, err);
}

/*
 * Superblocks name a log that a mount may refuse, or that is followed by
 * dropped logs: if no repair wrote a log, one with the same state is added.
 */
static int write_log(struct repair *r, struct context *cx)
{
	const struct look *l = repair_current(r);
	struct round round = {
		.job = repair_job(r, cx),
		.stage = RULE_STAGE_COUNTS,
		.taken = { [RULE_FIX_LOG] = true },
	};
	int ret;

	if (!l->complete ||
	    !state_is_at(&r->state, l->check.vol->latest.pseg_start,
			 l->check.vol->latest.seq))
		return 0;
	ret = is_mounted(r, cx);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = repair_attempt(r, cx, &round, IMPROVEMENT_OR_SAME);
	if (!ret && !r->state.hurt)
		fixers_note(&round.job, "superblocks: no log could be added");
	return ret < 0 ? ret : 0;
}

static int attempt_state(struct repair *r, struct context *cx,
			 unsigned int number, bool gives)
{
	int err;

	r->state_number = number;
	err = repair_rounds(r, cx);
	if (!err && gives && r->state.chosen)
		err = giveup_run(r, cx);
	if (!err && r->state.chosen)
		tool_detail(r->tool, "state %u, checkpoint %" PRIu64 ": %"
			    PRIu64 " errors after repairs", number,
			    r->state.at.cno, outcome_of(r).errors);
	return err ? err : write_log(r, cx);
}

/*
 * Whether a repair of candidate NUMBER can begin, as with the first one by the
 * superblocks: 1, 0, or a failure.
 */
static int is_there(struct repair *r, struct context *cx, unsigned int number)
{
	const struct plan_kind *supers = &r->first->plan.kinds[RULE_FIX_SUPER];
	struct root_state state = { 0 };
	struct fixer_job job = repair_job(r, cx);
	int err = overlay_open_trial(&job.dev, cx, r->under);

	job.check = &r->first->check;
	job.vol = job.check->vol;
	job.plan = &r->first->plan;
	job.state = &state;
	job.state_number = number;
	job.note = NULL;
	if (!err && supers->n)
		err = fix_super(&job, cx, supers->fixes, supers->n);
	if (!err)
		err = fix_root(&job, cx, NULL, 0);
	dev_close(job.dev);
	return err ? err : state.chosen;
}

/* What has been tried: the best outcome, and the last one. */
struct search {
	struct outcome best, last;
	size_t mark;
};

static bool is_last_best(const struct search *s)
{
	return s->last.number == s->best.number &&
	       s->last.gives == s->best.gives;
}

/*
 * Candidates from NUMBER on and before END, until one is good.  The best one so
 * far is taken back only if there is another one.
 */
static int try_from(struct repair *r, struct context *cx, unsigned int number,
		    unsigned int end, bool gives, struct search *s)
{
	int err, ret;

	for (; number < end && !is_good(&s->best); number++) {
		ret = !s->mark && is_last_best(s) ?
		      is_there(r, cx, number) : 1;
		if (ret <= 0)
			return ret;
		repair_restart(r, s->mark);
		err = attempt_state(r, cx, number, gives);
		s->last = outcome_of(r);
		s->last.number = number;
		s->last.gives = gives;
		if (err || !r->state.chosen)
			return err;
		if (is_better(&s->last, &s->best))
			s->best = s->last;
	}
	return 0;
}

int states_take(struct repair *r, struct context *cx)
{
	struct check check = { .dev = r->dev };
	struct fixer_job job = {
		.check = &check,
		.dev = r->dev,
		.time = (uint64_t)cx->now,
		.state = &r->state,
		.state_cno = r->o->state,
		.note = repairlist_add,
		.arg = &r->repaired,
	};
	int err = fix_root(&job, cx, NULL, 0);

	if (err || r->state.chosen)
		return err;
	return fail_said(cx, -ENOENT, "%s: no log ends checkpoint %" PRIu64
		    " from which a volume can be opened; dump.nilfs2 logs "
		    "lists those with a super root", r->tool->argv[0],
		    r->o->state);
}

static int try_candidates(struct repair *r, struct context *cx)
{
	struct search s = { .mark = overlay_mark(r->dev) };
	int err = attempt_state(r, cx, 0, false);

	if (err || !r->state.chosen || r->o->state)
		return err;
	s.best = s.last = outcome_of(r);
	err = try_from(r, cx, 1, STATES_MAX, false, &s);
	/* The one with the fewest errors needs the fewest of them given up. */
	if (!err && giveup_is_allowed(r))
		err = try_from(r, cx, s.best.number, s.best.number + 1, true,
			       &s);
	if (!err && giveup_is_allowed(r))
		err = try_from(r, cx, 0, STATES_MAX, true, &s);
	if (err || is_last_best(&s))
		return err;
	repair_restart(r, s.mark);
	return attempt_state(r, cx, s.best.number, s.best.gives);
}

/*
 * Two superblocks that contradict each other.
 *
 * Both have a checksum that is right, and one says of the layout what is not
 * so.  The volume was opened by that which the kernel takes.  If that is the
 * wrong one, sound metadata looks broken, and to repair it would be the end of
 * the volume: checkpoints of another size than they have are none.  So the
 * other one is tried first, and is right where it finds nothing wrong.
 */

/* Whether they differ, and something else is wrong. */
static bool is_due(const struct repair *r)
{
	const struct look *l = r->first;
	uint64_t differ = findings_count(l->check.findings, RULE_SB_COPIES);

	return l->complete && differ && improvement_errors(&l->check) > differ &&
	       l->plan.kinds[RULE_FIX_SUPER].n;
}

static int choose_super(struct repair *r, struct context *cx)
{
	struct round round = {
		.stage = RULE_STAGE_DEVICE,
		.begin = fix_super_other,
	};
	int ret;

	if (!is_due(r))
		return 0;
	ret = ask_stage(&r->ask, cx, &r->first->plan, RULE_STAGE_DEVICE);
	if (ret || !is_due(r))
		return ret;
	round.job = repair_job(r, cx);
	ret = repair_attempt(r, cx, &round, IMPROVEMENT_SOUND);
	return ret < 0 ? ret : 0;
}

int states_run(struct repair *r, struct context *cx)
{
	/* Flipped bits were repaired: superblocks are no longer in doubt. */
	int err = r->now && !r->rebuild ? 0 : choose_super(r, cx);

	if (!err)
		err = try_candidates(r, cx);
	return err ? err : giveup_run(r, cx);
}

/* The next look, and what is asked until then, is for MODE. */
static void set_mode(struct repair *r, enum decision_mode mode)
{
	r->rebuild = mode == DECISION_MODE_YES_REBUILD ||
		     mode == DECISION_MODE_ASK_REBUILD;
	repair_current(r)->mode = r->ask.mode = mode;
	r->derived = 0;
}

int states_rebuild(struct repair *r, struct context *cx, size_t mark)
{
	const enum decision_mode mode = r->ask.mode;
	const struct outcome plain = outcome_of(r);
	const bool good = is_good(&plain);
	struct repair_point from = repair_point(r);
	struct outcome o;
	int err;

	if (!good)
		repair_restart(r, mark);
	set_mode(r, mode == DECISION_MODE_YES ? DECISION_MODE_YES_REBUILD :
						DECISION_MODE_ASK_REBUILD);
	err = repair_resume(r, cx);
	if (!err)
		err = good ? repair_again(r, cx) : states_run(r, cx);
	if (err)
		return err;
	o = outcome_of(r);
	if (good ? is_good(&o) : is_better(&o, &plain))
		return 0;
	tool_detail(r->tool, "no better with metadata files rebuilt");
	if (good) {
		repair_back(r, &from);
		set_mode(r, mode);
		return repair_resume(r, cx);
	}
	repair_restart(r, mark);
	set_mode(r, mode);
	err = repair_resume(r, cx);
	return err ? err : states_run(r, cx);
}
