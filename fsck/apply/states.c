// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choice of the state that is repaired.
 *
 * The loss by a damaged state is known only after its repair, and giving it up
 * loses everything written since the previous state. So each candidate is
 * repaired on the overlay, newest first, and the first one without errors is
 * taken. If a segment of the state was overwritten, no check shows which file
 * blocks have other content; then an intact older state is better.
 *
 * A newer state without some snapshots (giveup.c) is better than one that no tool
 * accepts. Otherwise a state with errors in snapshots alone is kept: an older one
 * would lose all that was written since.
 *
 * Older states share most blocks with newer ones. If the first check of one shows
 * what was found in a newer one, or snapshots that could not be repaired there,
 * it is not repaired.
 *
 * Two superblocks with valid checksums may differ in fields that never change.
 * If the one that the kernel uses is wrong, sound metadata looks broken. So the
 * other one is tried first, and accepted if it has no findings.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/damage.h"
#include "dev/overlay.h"
#include "disk/checkpoint.h"
#include "fsck/apply/repair.h"
#include "log/checkpoints.h"
#include "vol/cptable.h"

/* The number of candidates, and that with --rebuild and an undo file: an older
   state loses more than what can be rebuilt, and each attempt takes some checks. */
#define STATES_FEW 8
#define STATES_MAX 16

/* So many errors in snapshots are not caused by metadata of the state. */
#define ERRORS_FEW 8

/* The result of a candidate. */
struct outcome {
	unsigned int number;
	bool gives;		/* gives up snapshots that cannot be repaired */
	bool complete, dat_broken;
	bool overwritten;	/* some blocks were overwritten */
	bool files;		/* the state has files */
	uint64_t latest, errors; /* errors without those of snapshots; all errors */
};

static struct outcome outcome_of(const struct repair *r)
{
	const struct look *l = trial_current(r);

	return (struct outcome){
		.complete = l->complete,
		.dat_broken = l->check.dat_broken,
		.overwritten = r->state.overwritten,
		.files = l->check.files_known && l->check.files,
		.latest = improvement_errors(&l->check, true),
		.errors = improvement_errors(&l->check, false),
	};
}

/* The results so far: the best outcome, and the last one. */
struct states_search {
	struct outcome best, last;
	struct look_broken broken;	/* of the best one */
	struct trial_point from;	/* before the first candidate */
	bool replaces;	/* superblocks lead to a state, which is number 0 */
	bool hopeless;	/* the last one was not repaired */
	uint32_t futile; /* a bit for each state that has nothing to give up */
	/* Digests of the findings of states before their repairs. */
	uint64_t *tried;
	size_t ntried, room;
};

static bool is_good_outcome(const struct outcome *o)
{
	return o->complete && !o->errors && !o->overwritten;
}

static bool is_better_outcome(const struct outcome *a, const struct outcome *b)
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

/* Only snapshots have errors. Giving these up loses less than an older state. */
static bool is_broken_by_snapshots(const struct outcome *o)
{
	return o->complete && !o->latest && !o->overwritten;
}

/* Of all findings of L, except the number of the latest checkpoint. */
static uint64_t digest_of_all(const struct repair *r, const struct look *l)
{
	uint64_t digest = 0, n[2 * CHECK_SCOPES + 1];
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		digest += trial_digest_of(r, (enum rule_fix)i);
	for (i = 0; rule_at(i); i++) {
		memcpy(n, l->check.tally[i].n, sizeof(l->check.tally[i].n));
		n[2 * CHECK_SCOPES] = i;
		digest += text_hash(n, sizeof(n));
	}
	return digest;
}

/*
 * Whether L has all snapshots of S, if there are some, and of each the errors, or
 * errors in the DAT or cpfile, which hide them. 1, 0, or a failure.
 */
static int has_broken(const struct look *l, struct context *cx,
		      const struct states_search *s)
{
	const struct plan_kind *kinds = l->plan.kinds;
	bool hidden = kinds[RULE_FIX_DAT].n || kinds[RULE_FIX_CHECKPOINTS].n;
	struct nilfs_checkpoint cp;
	unsigned int i, j;
	int err;

	for (i = 0; i < s->broken.n; i++) {
		j = 0;
		while (j < l->broken.n && l->broken.cno[j] != s->broken.cno[i])
			j++;
		if (j < l->broken.n)
			continue;
		if (!hidden)
			return 0;
		err = cptable_read(l->check.vol, cx, s->broken.cno[i], &cp);
		if (err)
			return damage_forgive(cx, err);
		if (!checkpoint_is_snapshot(&cp))
			return 0;
	}
	return s->broken.n > 0;
}

/* Whether the repair of the state that was just chosen would end as that of a
   newer one, with errors. -ENOMEM. */
static int is_hopeless(struct repair *r, struct context *cx)
{
	const struct look *l = trial_current(r);
	struct states_search *s = r->search;
	uint64_t digest;
	size_t i;
	int ret;

	if (!s || !l->complete || l->check.dat_broken)
		return 0;
	ret = has_broken(l, cx, s);
	if (ret < 0)
		return ret;
	s->hopeless = ret;
	if (s->hopeless) {
		tool_detail(r->tool, "state %u, checkpoint %" PRIu64 ": has "
			    "the same broken snapshots", r->state_number,
			    r->state.at.cno);
		return 1;
	}
	digest = digest_of_all(r, l);
	for (i = 0; i < s->ntried && !s->hopeless; i++)
		s->hopeless = s->tried[i] == digest;
	if (!s->hopeless)
		return array_push(cx, &s->tried, &s->ntried, &s->room, digest);
	tool_detail(r->tool, "state %u, checkpoint %" PRIu64 ": has the same "
		    "findings as a newer one", r->state_number,
		    r->state.at.cno);
	return 1;
}

/* Superblocks may name a log that a mount rejects, or that dropped logs follow.
   If no repair wrote a log, a log with the same state is added. */
static int attempt_state(struct repair *r, struct context *cx,
			 unsigned int number, bool gives)
{
	struct round round = {
		.stage = RULE_STAGE_COUNTS,
		.taken = { [RULE_FIX_LOG] = true },
	};
	const struct recovery *latest;
	struct volume *vol = NULL;
	struct outcome o;
	int ret;

	r->state_number = number;
	r->by_means = false;
	ret = rounds_run(r, cx);
	if (r->search && r->search->hopeless)
		return ret;
	if (!ret && !gives && giveup_may_any(r)) {
		o = outcome_of(r);
		gives = is_broken_by_snapshots(&o);
	}
	if (!ret && r->search && !gives && !giveup_is_due(r)) {
		r->search->futile |= 1u << number;
		r->same |= r->by_means ? 0 : 1u << number;
	}
	r->differs |= ret || r->by_means || giveup_is_due(r);
	if (!ret && gives && r->state.chosen)
		ret = giveup_run(r, cx);
	if (!ret && r->state.chosen)
		tool_detail(r->tool, "state %u, checkpoint %" PRIu64 ": %"
			    PRIu64 " errors after repairs", number,
			    r->state.at.cno, outcome_of(r).errors);
	if (ret || !trial_current(r)->complete)
		return ret;
	latest = &trial_current(r)->check.vol->latest;
	if (!state_is_at(&r->state, latest->pseg_start, latest->seq))
		return 0;
	/* Whether a mount accepts this state as the last one. */
	if (r->state.newest)
		ret = volume_open(&vol, cx, r->dev, NULL);
	if (!ret && vol)
		ret = state_is_at(&r->state, vol->latest.pseg_start,
				  vol->latest.seq) &&
		      !vol->latest.orphans_start;
	volume_close(vol);
	ret = damage_forgive(cx, ret);
	if (ret)
		return ret < 0 ? ret : 0;
	round.job = trial_job(r, cx);
	ret = trial_attempt(r, cx, &round, IMPROVEMENT_OR_SAME);
	if (!ret && !r->state.hurt)
		fixers_note(&round.job, "superblocks: no log could be added");
	return ret < 0 ? ret : 0;
}

static bool is_last_best(const struct states_search *s)
{
	return s->last.number == s->best.number &&
	       s->last.gives == s->best.gives;
}

/* Makes candidate NUMBER the latest state, with CNO only that of a checkpoint,
   if it exists. The result is not checked. */
static int take_candidate(struct repair *r, struct context *cx, unsigned int number,
			  uint64_t cno)
{
	struct check check = { .dev = r->dev };
	struct fixer_job job = trial_job(r, cx);

	job.check = &check;
	job.state_number = number;
	job.state_cno = cno;
	return fix_root(&job, cx, NULL, 0);
}

/* The last outcome is the best one. If only snapshots have errors, and few, other
   states with them have these errors too. Many are those of the DAT or of an ifile,
   of which an older state may have a sound copy. */
static void set_best(const struct repair *r, struct states_search *s)
{
	const struct look *l = trial_current(r);

	s->best = s->last;
	s->broken.n = 0;
	if (s->best.complete && !s->best.latest && !s->best.overwritten &&
	    s->best.errors <= ERRORS_FEW && !s->best.gives &&
	    !l->broken.others)
		s->broken = l->broken;
}

/* Repairs candidate NUMBER, from the volume as it was before all candidates. */
static int attempt_from(struct repair *r, struct context *cx, unsigned int number,
			bool gives, struct states_search *s)
{
	int ret = 0;

	s->hopeless = false;
	trial_restart(r, &s->from);
	if (s->replaces && number)
		ret = take_candidate(r, cx, number, 0);
	if (!ret && r->state.chosen) {
		r->state_number = number;
		ret = trial_resume(r, cx) ?: is_hopeless(r, cx);
	}
	if (!ret && r->state.chosen == (s->replaces && number))
		ret = attempt_state(r, cx, number, gives);
	return ret < 0 ? ret : 0;
}

/* Tries candidates from NUMBER on and before END until one is good. The best
   one is undone only if another candidate exists whose repair can begin. */
static int try_candidates(struct repair *r, struct context *cx, unsigned int number,
			  unsigned int end, bool gives, struct states_search *s)
{
	const struct plan_kind *supers = &r->first->plan.kinds[RULE_FIX_SUPER];
	int err;

	/* The same states may end otherwise. */
	if (s->last.gives != gives)
		s->ntried = 0;
	for (; number < end && !is_good_outcome(&s->best) &&
	       (giveup_may_any(r) || !is_broken_by_snapshots(&s->best)); number++) {
		if (((gives ? s->futile : 0) | r->same) & 1u << number)
			continue;
		if (!s->from.overlay && is_last_best(s)) {
			struct root_state state = { 0 };
			struct fixer_job job = trial_job(r, cx);

			job.check = &r->first->check;
			job.vol = job.check->vol;
			job.plan = &r->first->plan;
			job.state = &state;
			job.state_number = number;
			job.note = NULL;
			err = overlay_open(&job.dev, cx, r->under, true);
			if (!err && supers->n)
				err = fix_super(&job, cx, supers->fixes,
						supers->n);
			if (!err)
				err = fix_root(&job, cx, NULL, 0);
			dev_close(job.dev);
			if (err || !state.chosen)
				return err;
		}
		err = attempt_from(r, cx, number, gives, s);
		s->last = outcome_of(r);
		s->last.number = number;
		s->last.gives = gives;
		if (err || !r->state.chosen)
			return err;
		if (!s->hopeless && is_better_outcome(&s->last, &s->best))
			set_best(r, s);
	}
	return 0;
}

int states_take(struct repair *r, struct context *cx)
{
	int err = take_candidate(r, cx, 0, r->o->state);

	if (err || r->state.chosen)
		return err;
	return fail_said(cx, -ENOENT, "%s: no log ends the checkpoint of --state "
		    "so that a volume can be opened from it; dump.nilfs2 logs "
		    "lists those with a super root", r->tool->argv[0]);
}

/* As states_run(), or again the state that it took, if that is KNOWN. */
static int run_states(struct repair *r, struct context *cx, bool known,
		      struct states_search *s)
{
	const struct check *c = &r->first->check;
	const struct plan_kind *supers = &r->first->plan.kinds[RULE_FIX_SUPER];
	uint64_t differ = findings_count(c->findings, RULE_SB_COPIES);
	bool gives = r->o->give_up.n || giveup_may_any(r);
	struct round other = {
		.stage = RULE_STAGE_DEVICE,
		.begin = fix_super_other,
	};
	int err;

	/* After the repair of flipped bits the superblocks are not in doubt. */
	differ = r->first->complete && supers->n &&
				 ((!r->now && !r->overwrites) || r->rebuild) ?
			 differ : 0;
	if (differ && improvement_errors(c, false) > differ) {
		err = plan_ask(&r->ask, cx, &r->first->plan,
			       RULE_STAGE_DEVICE);
		other.job = trial_job(r, cx);
		if (!err && supers->n)
			err = trial_attempt(r, cx, &other, IMPROVEMENT_SOUND);
		if (err < 0)
			return err;
	}
	s->from = trial_point(r);
	if (known && r->best_number)
		return attempt_state(r, cx, r->best_number, r->best_gives) ?:
		       giveup_run(r, cx);
	err = attempt_state(r, cx, 0, known && r->best_gives);
	if (err)
		return err;
	s->replaces = !r->state.chosen;
	if (s->replaces || r->o->state || known) {
		err = giveup_run(r, cx);
		s->best = s->last = outcome_of(r);
		/* A state that can be opened, or rebuilt, keeps what was
		   written last. */
		if (err || r->o->state || known || !giveup_may_any(r) ||
		    !r->rebuild || (s->best.complete && !s->best.dat_broken))
			return err;
	} else {
		s->last = outcome_of(r);
		set_best(r, s);
		err = try_candidates(r, cx, 1, STATES_FEW, false, s);
	}
	/* The state with the fewest errors has the
	   fewest snapshots to give up. */
	if (!err && gives && !s->replaces)
		err = try_candidates(r, cx, s->best.number, s->best.number + 1,
				     true, s);
	if (!err && gives)
		err = try_candidates(r, cx, s->replaces, STATES_FEW, true, s);
	if (!err && giveup_may_any(r) && r->rebuild)
		err = try_candidates(r, cx, STATES_FEW, STATES_MAX, true, s);
	r->search = NULL;
	if (!err && !is_last_best(s))
		err = attempt_from(r, cx, s->best.number, s->best.gives, s);
	r->best_number = s->best.number;
	r->best_gives = s->best.gives;
	return err ? err : giveup_run(r, cx);
}

/* Searches the states, by the means that R has now. */
static int search_states(struct repair *r, struct context *cx)
{
	struct states_search s = { .ntried = 0 };
	int err;

	r->search = &s;
	r->leaves = is_hopeless;
	r->best_number = 0;
	r->best_gives = false;
	err = run_states(r, cx, false, &s);
	r->search = NULL;
	free(s.tried);
	return err;
}

/*
 * Repairs again with other means, after a repair that began at FROM and ended as
 * PLAIN. A sound result is only continued. The new result is kept only if it is
 * better, or as sound.
 */
static int try_means(struct repair *r, struct context *cx,
		     const struct trial_point *from, const struct outcome *plain,
		     enum decision_mode mode, bool overwrites)
{
	const enum decision_mode mode_before = r->ask.mode;
	const bool overwrote = r->overwrites, gives = r->best_gives;
	const bool good = is_good_outcome(plain);
	const unsigned int number = r->best_number;
	struct states_search again = { .ntried = 0 };
	struct trial_point sound = trial_point(r);
	struct outcome o;
	int err;

	if (!good)
		trial_restart(r, from);
	trial_set_means(r, mode, overwrites);
	err = trial_resume(r, cx);
	if (!err)
		err = good ? rounds_run(r, cx) : search_states(r, cx);
	if (err)
		return err;
	o = outcome_of(r);
	if (good ? is_good_outcome(&o) : is_better_outcome(&o, plain))
		return 0;
	tool_detail(r->tool, "%s are no improvement",
		    overwrites == overwrote ? "rebuilt metadata files" :
					      "repairs in place");
	if (good)
		trial_return_to(r, &sound);
	else
		trial_restart(r, from);
	trial_set_means(r, mode_before, overwrote);
	r->best_number = number;
	r->best_gives = gives;
	err = trial_resume(r, cx);
	return err || good ? err : run_states(r, cx, true, &again);
}

int states_run(struct repair *r, struct context *cx)
{
	struct trial_point from = trial_point(r);
	enum decision_mode mode = r->ask.mode;
	struct outcome plain;
	int err;

	r->differs = false;
	err = search_states(r, cx);
	plain = outcome_of(r);
	if (!err && r->o->undo_file && giveup_may_lose(r) && !is_good_outcome(&plain)) {
		/* Giving up snapshots loses nothing else. */
		r->overwrites = is_broken_by_snapshots(&plain);
		if (r->overwrites)
			err = giveup_run(r, cx);
		r->overwrites = false;
		plain = outcome_of(r);
		if (!err && !is_good_outcome(&plain) && r->differs)
			err = try_means(r, cx, &from, &plain, mode, true);
	}
	plain = outcome_of(r);
	if (err || !r->o->rebuild)
		return err;
	r->same = 0;
	return try_means(r, cx, &from, &plain, mode == DECISION_MODE_YES ?
				 DECISION_MODE_YES_REBUILD :
				 DECISION_MODE_ASK_REBUILD,
			 r->o->undo_file);
}
