/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Comparison of the blocks that the DAT claims with the listings of the logs,
 * in windows of the device that fit the table memory of the check.
 */
#ifndef NILFS2_CHECK_CLAIMS_H
#define NILFS2_CHECK_CLAIMS_H

#include "check/check.h"
#include "check/logs/mapsums.h"
#include "vol/summary.h"

/* Allocates C->claimed and C->live_segments, empty, and sets the first window. */
int claims_begin(struct check *c, struct context *cx);

/*
 * Claims block BLOCKNR of the DAT itself: 1, also if it is outside of the
 * window; 0 if it was claimed before; -ENOMEM.
 */
int claims_add_dat_block(struct check *c, struct context *cx, uint64_t blocknr);

/*
 * Claims the blocks of the used entries of BLOCK in the window of CHECK.  For
 * any thread: datscan_visitor.  0, -ENOMEM.
 */
int claims_entries(void *check, struct context *cx, unsigned int worker,
		   const struct datscan_block *block);

/* Reports the entries that share a block, after all entries were added. */
int claims_report_twice(struct check *c, struct context *cx);

/*
 * Call after the first window was filled: reports double claims in all other
 * windows and completes C->live_segments.  Returns to the first window.  0, or
 * a failure of the checker.
 */
int claims_survey(struct check *c, struct context *cx);

/*
 * Moves to the next window and keeps the remaining claims of the current one.
 * 1, 0 if there is no other window, or a failure of the checker.
 */
int claims_next(struct check *c, struct context *cx);

/*
 * The state of block BLOCKNR in the DAT, if a log lists it as B: 2 and *VB if B
 * is in use there; 1 if its entry has that place but is not in use, or cannot
 * be read, or if B is a block of the DAT itself; 0 otherwise; or a failure of
 * the checker.
 */
int claims_find_owner(struct vblocks *vblocks, struct context *cx, uint64_t blocknr,
		      const struct segsum_block *b, struct vblock *vb);

/* State of one worker, which sets the first two fields and zeroes the rest. */
struct claims {
	struct check *c;
	struct vblocks vblocks;	/* of the worker's volume */
	struct mapsum sum;	/* sum of some blocks of one file */
	/* A block is listed with a number that is free or elsewhere by the DAT.
	   The caller resets it. */
	bool any_unclaimed;
	bool any_needed;	/* a block of the log is live now or in a snapshot */
};

/*
 * Removes the claims that the log of SUMMARY, just read, lists as the DAT has
 * them.  0, or a failure of the checker.
 */
int claims_settle_log(struct claims *claims, struct context *cx,
		      struct summary *summary);

/* Removes all claims of the unknown blocks [FROM, END): returns how many, and
   the last one in *LAST, unless that is NULL. */
uint64_t claims_drop(struct check *c, uint64_t from, uint64_t end,
		     uint64_t *last);

/*
 * After all logs: reports the remaining claims.  Clean segments and the unused
 * part of a segment get one finding each, other blocks one per block.
 */
int claims_report(struct check *c, struct context *cx);

#endif
