// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Giving up what cannot be repaired.
 *
 * Snapshots that cannot be repaired would block every other tool. If the user
 * names them, or has an undo file written, they become plain checkpoints, one
 * at a time, because that may allow the repair of the next one. Blocks whose places
 * were overwritten are given up before them.
 */
#include "fsck/apply/repair.h"

#include <inttypes.h>

#include "base/array.h"
#include "dev/overlay.h"
#include "log/checkpoints.h"

bool giveup_may_lose(const struct repair *r)
{
	return decision_of(r->ask.mode, RULE_DANGER_LOSES) == DECISION_REPAIR;
}

bool giveup_may_any(const struct repair *r)
{
	return r->overwrites && giveup_may_lose(r);
}

uint64_t giveup_next(const struct repair *r)
{
	const struct look *l = trial_current(r);
	unsigned int i, j;

	if (!l->complete || l->mode == DECISION_MODE_NO)
		return 0;
	for (i = 0; i < l->broken.n; i++) {
		if (giveup_may_any(r))
			return l->broken.cno[i];
		for (j = 0; j < r->o->give_up.n; j++)
			if (r->o->give_up.cno[j] == l->broken.cno[i])
				return l->broken.cno[i];
	}
	return 0;
}

static int unset_snapshot(struct fixer_job *job, struct context *cx)
{
	int err = checkpoints_unset(job->writer, cx, job->given_up);

	if (!err)
		fixers_note(job, "snapshot %" PRIu64 ": given up, is a plain "
			    "checkpoint now", job->given_up);
	return err;
}

/* Gives up blocks whose places were overwritten, which no log lists there. 1, or
   a failure. */
static int give_up_blocks(struct repair *r, struct context *cx)
{
	int err;

	if (!findings_have(trial_current(r)->check.findings, RULE_OVERWRITTEN))
		return 1;
	tool_detail(r->tool, "blocks in rewritten segments are given up");
	r->trusts_logs = true;
	r->derived = 0;
	/* Derivations and rounds are judged otherwise now. */
	r->nfailed = 0;
	err = rounds_run(r, cx);
	r->trusts_logs = false;
	/* No entry leads to what was overwritten any more. */
	r->state.overwritten &= findings_have(trial_current(r)->check.findings,
					      RULE_OVERWRITTEN);
	return err ? err : 1;
}

bool giveup_is_due(const struct repair *r)
{
	const struct look *l = trial_current(r);

	return findings_have(l->check.findings, RULE_OVERWRITTEN) || l->broken.n;
}

int giveup_run(struct repair *r, struct context *cx)
{
	const struct look *l = trial_current(r);
	uint64_t left = l->broken.others && !r->o->give_up.n ? 1 :
			improvement_errors(&l->check, false);
	struct trial_point from = trial_point(r);
	int ret = 1;

	if (l->complete && giveup_may_lose(r))
		ret = give_up_blocks(r, cx);
	/* A read that failed may succeed when it is tried again. */
	if (ret > 0 && giveup_next(r) && r->dev->stats.failed_reads) {
		r->nfailed = 0;
		ret = trial_resume(r, cx) ?: rounds_run(r, cx) ?: 1;
	}
	/* Errors in shared blocks then belong to the next snapshot, or to the
	   latest state, so only the last result is judged. */
	while (ret > 0 && stages_may_log(r) && giveup_next(r)) {
		struct round round = {
			.job = trial_job(r, cx),
			.stage = RULE_STAGE_COUNTS,
			.begin = unset_snapshot,
		};

		round.job.given_up = giveup_next(r);
		ret = trial_attempt(r, cx, &round, IMPROVEMENT_ANY);
		/* A repair that failed may succeed without this snapshot. */
		r->nfailed = 0;
		if (ret > 0)
			ret = array_push(cx, &r->unset, &r->nunset,
					 &r->unset_room, round.job.given_up) ?:
			      rounds_run(r, cx) ?: 1;
	}
	if (ret < 0 || overlay_mark(r->dev) == from.overlay ||
	    improvement_errors(&trial_current(r)->check, false) < left)
		return ret < 0 ? ret : 0;
	trial_return_to(r, &from);
	return trial_resume(r, cx);
}
