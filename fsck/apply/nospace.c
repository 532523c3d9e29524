// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A round where no segment is free.
 *
 * It is tried without old checkpoints first.  Then few of their segments are
 * taken, as these checkpoints go with them, and more if that is not enough.
 * What is written over belonged to the volume, so all of it must be kept in an
 * undo file, and the user must have said that things may be lost.
 */
#include "fsck/apply/nospace.h"

#include <errno.h>

#include "dev/overlay.h"
#include "fsck/apply/repairlist.h"

/* Segments that are taken, at first and at last. */
#define RECLAIM_FIRST 2u
#define RECLAIM_MAX 2048u

/* Whether old checkpoints may be written over. */
static bool may_reclaim(const struct repair *r)
{
	return r->o->undo_file && decision_of(r->ask.mode,
					      RULE_DANGER_LOSES) ==
					  DECISION_REPAIR;
}

int nospace_run(struct repair *r, struct context *cx, struct round *round)
{
	size_t mark = overlay_mark(r->dev), nmended = r->repaired.n;
	int err = round_run(round, cx);

	r->no_room |= err == -ENOSPC;
	for (round->reclaim = RECLAIM_FIRST; err == -ENOSPC && may_reclaim(r) &&
	     round->reclaim <= RECLAIM_MAX; round->reclaim *= 4) {
		overlay_rewind(r->dev, mark);
		repairlist_rewind(&r->repaired, nmended);
		fail_clear(cx);
		err = round_run(round, cx);
	}
	return err;
}
