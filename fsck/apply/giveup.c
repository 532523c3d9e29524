// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Snapshots that cannot be repaired.
 *
 * What a snapshot has lost may be in no other place, and its errors would stop
 * every other tool for ever.  As a plain checkpoint it protects nothing any
 * more, and no tool asks for its files.  Its user has named it, or keeps what
 * the repair changes in an undo file.  One is given up after the other: what is
 * wrong with the next one may be repaired then.  Where the latest state has errors
 * as well, it must come out without any, or no snapshot is given up that the user
 * has not named.
 */
#include <inttypes.h>

#include "dev/overlay.h"
#include "fsck/apply/repair.h"
#include "log/checkpoints.h"

static bool is_any_wanted(const struct repair *r)
{
	return r->o->undo_file &&
	       decision_of(r->ask.mode, RULE_DANGER_LOSES) == DECISION_REPAIR;
}

bool giveup_is_allowed(const struct repair *r)
{
	return r->o->give_up.n || is_any_wanted(r);
}

static bool is_wanted(const struct repair *r, uint64_t cno)
{
	unsigned int i;

	if (is_any_wanted(r))
		return true;
	for (i = 0; i < r->o->give_up.n; i++)
		if (r->o->give_up.cno[i] == cno)
			return true;
	return false;
}

static int unset(struct fixer_job *job, struct context *cx,
		 const struct fix *fixes, size_t n)
{
	int err = checkpoints_unset(job->writer, cx, job->given_up);

	(void)fixes, (void)n;
	if (!err)
		fixers_note(job, "snapshot %" PRIu64 ": given up, is a plain "
			    "checkpoint now", job->given_up);
	return err;
}

bool giveup_is_due(const struct repair *r)
{
	const struct look *l = repair_current(r);
	unsigned int i;

	if (!l->complete || l->mode == DECISION_MODE_NO)
		return false;
	for (i = 0; i < l->broken.n; i++)
		if (is_wanted(r, l->broken.cno[i]))
			return true;
	return false;
}

/* The first one that may be, by giveup_is_due(): 1 where it stays, 0, or a
   failure. */
static int give_up(struct repair *r, struct context *cx)
{
	const struct look_broken *broken = &repair_current(r)->broken;
	struct round round = {
		.job = repair_job(r, cx),
		.stage = RULE_STAGE_COUNTS,
		.begin = unset,
	};
	unsigned int i;

	for (i = 0; !is_wanted(r, broken->cno[i]); i++)
		continue;
	round.job.given_up = broken->cno[i];
	return repair_attempt(r, cx, &round, IMPROVEMENT_OR_SAME);
}

int giveup_run(struct repair *r, struct context *cx)
{
	bool whole = repair_current(r)->broken.others && !r->o->give_up.n;
	uint64_t left = whole ? 1 :
				improvement_errors(&repair_current(r)->check);
	struct repair_point from = repair_point(r);
	int ret = 1;

	/* A read that failed may succeed when it is tried again. */
	if (giveup_is_due(r) && r->dev->stats.failed_reads)
		ret = repair_resume(r, cx) ?: repair_again(r, cx) ?: 1;
	/* With one less, errors in what it shared are those of the next one, or
	   of the latest state. */
	while (ret > 0 && stages_may_log(r) && giveup_is_due(r)) {
		ret = give_up(r, cx);
		if (ret > 0)
			ret = repair_again(r, cx) ?: 1;
	}
	if (ret < 0 || overlay_mark(r->dev) == from.overlay ||
	    improvement_errors(&repair_current(r)->check) < left)
		return ret < 0 ? ret : 0;
	repair_back(r, &from);
	return repair_resume(r, cx);
}
