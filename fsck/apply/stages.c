// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stage of the next round.
 *
 * It is the first one with something to repair that was not given up. Metadata
 * that cannot be trusted yet prevents the repair of later stages, which would
 * write a log.
 *
 * Kinds that hide no other findings and cause none (RULE_STANDALONE) share a
 * log with the next stage, because a check of the whole volume is the main cost
 * of a repair. Blocks that nothing refers to are freed together with the repair
 * of names, which leads to no block that was not referred to before. If that is
 * no better, each stage has a round of its own.
 */
#include "fsck/apply/repair.h"

#include <string.h>

#include "disk/super.h"

/*
 * A new log replaces logs after the latest super root, which have the data that
 * was synced last, or newer checkpoints after a damaged log. A mount recovers
 * the former; only the user may give them up. On zones a mount fails to remove
 * such logs, so those without recoverable data may be replaced.
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
	return r->dev->zones && (r->no_orphan_data || !latest->orphans_end);
}

/* A log must not be written with a DAT that leads to invalid blocks or has used
   numbers marked as free. */
static bool is_dat_unsafe(const struct look *l)
{
	return l->check.dat_broken ||
	       findings_have_stage(l->check.findings, RULE_STAGE_NUMBERS);
}

bool stages_is_wiped(const struct repair *r)
{
	return findings_count(trial_current(r)->check.findings, RULE_SB_WIPED);
}

bool stages_may_log(const struct repair *r)
{
	const struct look *l = trial_current(r);

	return may_write_log(r, l) && !is_dat_unsafe(l) && !stages_is_wiped(r) &&
	       !trial_is_cut_off(l);
}

/* Whether superblocks need no round of their own: the wrong one is the one that
   the volume was not opened with, and hides nothing. */
static bool is_super_spare(const struct repair *r)
{
	const struct look *l = trial_current(r);
	const struct plan_kind *k = &l->plan.kinds[RULE_FIX_SUPER];
	bool wiped = stages_is_wiped(r);
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
	return k->n && !wiped && !r->fixer_failed[RULE_FIX_SUPER];
}

static bool have_all(const struct plan_kind *k, unsigned int trait)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (!rule_has(k->fixes[i].rule, trait))
			return false;
	return true;
}

/*
 * Whether KIND has something to repair now. Flipped bits were corrected before
 * all rounds. Counts of checkpoints that are corrected before their files would
 * be wrong again.
 */
static bool is_kind_due(const struct repair *r, enum rule_fix kind)
{
	const struct plan_kind *kinds = trial_current(r)->plan.kinds;
	int i;

	if (kind == RULE_FIX_BITS || !kinds[kind].n || r->fixer_failed[kind])
		return false;
	if (kind != RULE_FIX_CHECKPOINTS ||
	    !have_all(&kinds[kind], RULE_COUNTS_FILES))
		return true;
	for (i = RULE_FIX_IFILE; i <= RULE_FIX_MAPS; i++)
		if (kinds[i].n && !r->fixer_failed[i])
			return false;
	return true;
}

/* The first stage from FIRST on that has something to
   repair, or STAGES_NONE. */
static int stage_from(const struct repair *r, int first)
{
	const struct look *l = trial_current(r);
	int stage = STAGES_NONE, of_kind;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		if (!is_kind_due(r, (enum rule_fix)i))
			continue;
		of_kind = (int)rule_fix_stages[i];
		if (of_kind >= first && (stage < 0 || of_kind < stage))
			stage = of_kind;
	}
	if (trial_is_cut_off(l) ||
	    (stage > RULE_STAGE_DEVICE && stages_is_wiped(r) &&
	     first <= RULE_STAGE_DEVICE) ||
	    (stage > RULE_STAGE_DEVICE && stage != RULE_STAGE_ZONES &&
	     !may_write_log(r, l)) ||
	    (stage > RULE_STAGE_DAT && is_dat_unsafe(l)))
		return STAGES_NONE;
	return stage;
}

int stages_next(const struct repair *r)
{
	int stage = stage_from(r, 0), after;

	if (stage != RULE_STAGE_DEVICE || !is_super_spare(r))
		return stage;
	after = stage_from(r, RULE_STAGE_DEVICE + 1);
	return after > RULE_STAGE_DEVICE ? after : stage;
}

/* Whether counts may share the log of the TAKEN kinds, with names: all references
   to blocks are known and right. */
static bool may_share_counts(const struct look *l,
			     const bool taken[RULE_FIX_COUNT])
{
	const struct plan_kind *kinds = l->plan.kinds;

	return taken[RULE_FIX_NAMES] && !taken[RULE_FIX_MOVES] &&
	       !kinds[RULE_FIX_DAT].n && !kinds[RULE_FIX_IFILE].n &&
	       !kinds[RULE_FIX_INODES].n && !kinds[RULE_FIX_MAPS].n &&
	       have_all(&kinds[RULE_FIX_COUNTS], RULE_UNOWNED);
}

unsigned int stages_take(const struct repair *r, int stage,
			 bool taken[RULE_FIX_COUNT])
{
	const struct look *l = trial_current(r);
	enum stages_split split = r->split[stage];
	int of_kind, last = stage;
	bool alone = split != STAGES_TOGETHER;
	unsigned int n = 0;
	size_t i;

	/* Kinds are in the order of stages. */
	for (i = 0; i < RULE_FIX_COUNT; i++) {
		of_kind = (int)rule_fix_stages[i];
		if (i == RULE_FIX_COUNTS && split == STAGES_TOGETHER &&
		    may_share_counts(l, taken))
			last = RULE_STAGE_COUNTS;
		if (of_kind > last && !alone && of_kind < RULE_STAGE_ZONES &&
		    is_kind_due(r, (enum rule_fix)i))
			last = of_kind;
		taken[i] = !(n && split == STAGES_KINDS_ALONE) &&
			   (i == RULE_FIX_SUPER && stage > RULE_STAGE_DEVICE ?
				    is_super_spare(r) :
				    is_kind_due(r, (enum rule_fix)i) &&
					    of_kind >= stage &&
					    of_kind <= last);
		/* Findings at later stages may result from this kind. */
		alone |= taken[i] && of_kind >= stage &&
			 ((i != RULE_FIX_CHECKPOINTS &&
			   i != RULE_FIX_SEGMENTS) ||
			  !have_all(&l->plan.kinds[i], RULE_STANDALONE) ||
			  (i == RULE_FIX_SEGMENTS &&
			   findings_have(l->check.findings,
					 RULE_DOUBTS_CLEAN)));
		n += taken[i];
	}
	return n;
}

int stages_ask(struct repair *r, struct context *cx)
{
	struct plan *plan = &trial_current(r)->plan;
	bool taken[RULE_FIX_COUNT], left[RULE_FIX_COUNT];
	int stage, err;
	size_t i;

	do {
		stage = stages_next(r);
		if (stage < 0)
			return STAGES_NONE;
		stages_take(r, stage, taken);
		for (i = 0; i < RULE_FIX_COUNT; i++) {
			if (!taken[i])
				continue;
			err = plan_ask(&r->ask, cx, plan,
					rule_fix_stages[i]);
			if (err)
				return err;
		}
		stages_take(r, stage, left);
	} while (stages_next(r) != stage ||
		 memcmp(taken, left, sizeof(taken)) != 0);
	return stage;
}
