// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds of repairs and checks.
 *
 * A round repairs the first stage with something to repair, because findings at
 * later stages depend on it, together with findings that nothing depends on
 * (stages.c). Then all passes check the overlay. A round that failed or did not
 * improve the volume is undone, and its stages or kinds of repair are tried one
 * by one. A kind that leaves as many findings as before is dropped. A round that
 * failed is not tried again with the same findings, unless those that made it
 * worse have changed.
 */
#include "fsck/apply/repair.h"

#include <string.h>

static void count_kinds(struct repair *r,
			struct plan_count found[RULE_FIX_COUNT])
{
	const struct look *l = trial_current(r);
	uint64_t cno = l->check.vol ? l->check.vol->latest.cno : 0;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		found[i] = plan_count(&l->plan.kinds[i], cno);
}

static bool is_of_snapshot(const void *latest, const struct finding *fix)
{
	return fix->place.cno && fix->place.cno != *(const uint64_t *)latest;
}

/* The findings of the TAKEN kinds. */
static uint64_t digest_of(const struct repair *r,
			  const bool taken[RULE_FIX_COUNT])
{
	uint64_t digest = 0;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		if (taken[i])
			digest += trial_digest_of(r, (enum rule_fix)i);
	return digest;
}

static int run_round(struct repair *r, struct context *cx, int stage)
{
	const struct ask *a = &r->ask;
	struct plan_count before[RULE_FIX_COUNT], now[RULE_FIX_COUNT];
	bool fewer[RULE_FIX_COUNT];
	struct round round = {
		.job = trial_job(r, cx),
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
	uint64_t digest = digest_of(r, round.taken);
	bool reached = false;
	size_t i;
	int ret = 0;

	count_kinds(r, before);
	if (!trial_has_failed(r, digest))
		ret = trial_attempt(r, cx, &round, IMPROVEMENT_ONLY);
	if (!ret && !round.unchanged)
		ret = trial_add_failed(r, cx, digest);
	if (ret < 0)
		return ret;
	if (!ret) {
		/* One of the kinds caused the failure. */
		while (n > 1 && stages_take(r, stage, fewer) >= n)
			r->split[stage]++;
		for (i = 0; i < RULE_FIX_COUNT && n <= 1; i++) {
			struct plan_kind *kind =
				&trial_current(r)->plan.kinds[i];
			size_t all = kind->n;

			if (!round.taken[i])
				continue;
			/* Repairs in the newest checkpoint do not depend on
			   those in snapshots. */
			if (!round.unchanged && round.job.vol &&
			    plan_set_aside(kind, cx, is_of_snapshot,
					   &round.job.vol->latest.cno))
				return -ENOMEM;
			if (kind->n && kind->n < all)
				continue;
			r->fixer_failed[i] = true;
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
			r->fixer_failed[i] = r->unchanged[i] = false;
		r->stale[i] = r->fixer_failed[i];
		r->fixer_failed[i] |= round.taken[i] &&
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
		r->fixer_failed[i] = r->stale[i] = false;
		any = true;
	}
	return any;
}

/*
 * Whether no log improves the volume, as the last attempt showed: segments in use
 * were written again after the state. A log of a repair is newer than theirs, so
 * that the check reads them, and finds what they overwrote.
 */
static bool is_log_in_vain(const struct repair *r)
{
	return r->worse == rule_info(RULE_LOG_UNLISTED) &&
	       findings_count(trial_current(r)->check.findings,
			      RULE_LOG_NEWER);
}

int rounds_run(struct repair *r, struct context *cx)
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
	bool chosen = r->state.chosen;
	int stage, err = 0;

	memset(r->fixer_failed, 0, sizeof(r->fixer_failed));
	memset(r->unchanged, 0, sizeof(r->unchanged));
	memset(r->stale, 0, sizeof(r->stale));
	memset(r->split, 0, sizeof(r->split));
	r->worse = NULL;
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
		if (!err && r->search && r->state.chosen && !chosen) {
			err = r->leaves(r, cx);
			if (err)
				return err < 0 ? err : 0;
		}
		chosen = r->state.chosen;
		if (!err && is_log_in_vain(r))
			break;
	}
	return err ? err : forward_last(r, cx);
}
