/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks that the DAT claims, a window of the device at a time: as much of
 * it as the table memory of the check holds.
 */
#ifndef NILFS2_CHECK_CLAIMWINDOW_H
#define NILFS2_CHECK_CLAIMWINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/check.h"

/*
 * Claims block BLOCKNR of the DAT itself: 1, 0 where it was claimed before,
 * -ENOMEM.  1 too where it is not in the window.
 */
int claimwindow_own(struct check *c, struct context *cx, uint64_t blocknr);

/* Reports block PTR of the map of the DAT, at KEY and LEVEL, by RULE. */
void claimwindow_blame(struct check *c, enum rule rule, uint64_t ptr,
		       uint64_t key, unsigned int level);

/* Makes C->claimed and C->live_segments, which are empty; the first window. */
int claimwindow_init(struct check *c, struct context *cx);

/* Adding to C->claimed; one for all workers. */
struct claimer {
	struct check *c;
	struct sparse shared;	/* blocks that were claimed twice */
	bool any_shared;
};

/* Blocks to be claimed; neighbours mostly have neighbouring entries. */
struct claimer_pending {
	uint64_t first;		/* a multiple of 64 */
	uint64_t bits;
};

/* -ENOMEM; claimwindow_close() also then. */
int claimwindow_open(struct claimer *claimer, struct context *cx, struct check *c);
void claimwindow_close(struct claimer *claimer);

/* Adds what is pending.  0, -ENOMEM. */
int claimwindow_flush(struct claimer *claimer, struct context *cx,
		  struct claimer_pending *pending);

/* Claims BLOCKNR, which is below C->claimed.bits, if it is in the window. */
static inline int claimwindow_add(struct claimer *claimer, struct context *cx,
			      struct claimer_pending *pending, uint64_t blocknr)
{
	const struct check *c = claimer->c;
	uint64_t bit = UINT64_C(1) << blocknr % 64;
	int err = 0;

	if (blocknr - c->claimed_from >= c->claimed_end - c->claimed_from)
		return 0;
	if (blocknr - blocknr % 64 != pending->first || pending->bits & bit)
		err = claimwindow_flush(claimer, cx, pending);
	pending->first = blocknr - blocknr % 64;
	pending->bits |= bit;
	return err;
}

/* Reports the entries that share a block, after all were added. */
int claimwindow_report(struct claimer *claimer, struct context *cx);

/*
 * After the first window was filled by the caller: reports what is claimed twice
 * in the others and finds all of C->live_segments.  Ends in the first window.
 * 0, or a failure of the checker.
 */
int claimwindow_survey(struct check *c, struct context *cx);

/*
 * Goes to the window after the present one, the claims of which that are left
 * stay.  1, 0 where there is none, or a failure of the checker.
 */
int claimwindow_next(struct check *c, struct context *cx);

#endif
