// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stage of the next round.
 *
 * It is the first one with something to be repaired that was not given up.
 * What cannot be trusted yet keeps later stages from being repaired: they would
 * write a log.
 */
#include "fsck/apply/repair.h"

#include "disk/super.h"

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

bool stages_is_wiped(const struct repair *r)
{
	return findings_count(repair_current(r)->check.findings, RULE_SB_WIPED);
}

bool stages_may_log(const struct repair *r)
{
	const struct look *l = repair_current(r);

	return may_write_log(r, l) && !is_dat_unsafe(l) && !stages_is_wiped(r) &&
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
	return k->n && !wiped && !r->given_up[RULE_FIX_SUPER];
}

/* The first stage, from FIRST on, that has something to be repaired, or
   STAGES_NONE. */
static int stage_from(const struct repair *r, int first)
{
	const struct plan *plan = &repair_current(r)->plan;
	int stage = STAGES_NONE, of_kind;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		if (!plan->kinds[i].n || r->given_up[i])
			continue;
		of_kind = (int)rule_stage_of_fix((enum rule_fix)i);
		if (of_kind >= first && (stage < 0 || of_kind < stage))
			stage = of_kind;
	}
	if (repair_is_cut_off(repair_current(r)) ||
	    (stage > RULE_STAGE_DEVICE && stages_is_wiped(r) &&
	     first <= RULE_STAGE_DEVICE) ||
	    (stage > RULE_STAGE_DEVICE && stage != RULE_STAGE_ZONES &&
	     !may_write_log(r, repair_current(r))))
		return STAGES_NONE;
	if (stage > RULE_STAGE_DAT && is_dat_unsafe(repair_current(r)))
		return STAGES_NONE;
	return stage;
}

/* Whether the superblocks are repaired in the same round as STAGE. */
static bool takes_super(const struct repair *r, int stage)
{
	return stage > RULE_STAGE_DEVICE && is_super_spare(r);
}

/* The stage of the next round, or STAGES_NONE. */
static int next_stage(const struct repair *r)
{
	int stage = stage_from(r, 0), after;

	if (stage != RULE_STAGE_DEVICE || !is_super_spare(r))
		return stage;
	after = stage_from(r, RULE_STAGE_DEVICE + 1);
	return takes_super(r, after) ? after : stage;
}

unsigned int stages_take(const struct repair *r, int stage,
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

const char *stages_name(int stage)
{
	static const char *const names[] = {
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

	return names[stage];
}

int stages_ask(struct repair *r, struct context *cx)
{
	int stage, err;

	do {
		stage = next_stage(r);
		if (stage < 0)
			return STAGES_NONE;
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
