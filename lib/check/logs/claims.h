/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks that the DAT claims, beside what the logs list.  A window of the
 * device at a time: as much of it as the table memory of the check holds.
 */
#ifndef NILFS2_CHECK_CLAIMS_H
#define NILFS2_CHECK_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"
#include "check/logs/mapsums.h"
#include "check/vblocks.h"
#include "vol/datscan.h"
#include "vol/summary.h"

/* Makes C->claimed and C->live_segments, which are empty; the first window. */
int claims_begin(struct check *c, struct context *cx);

/*
 * Claims block BLOCKNR of the DAT itself: 1, 0 where it was claimed before,
 * -ENOMEM.  1 too where it is not in the window.
 */
int claims_own(struct check *c, struct context *cx, uint64_t blocknr);

/*
 * Claims what the entries of BLOCK that are in use name in the window of CHECK,
 * from any thread: datscan_visitor.  0, -ENOMEM.
 */
int claims_entries(void *check, struct context *cx, unsigned int worker,
		   const struct datscan_block *block);

/* Reports the entries that share a block, after all were added. */
int claims_report_twice(struct check *c, struct context *cx);

/*
 * After the first window was filled by the caller: reports what is claimed twice
 * in the others and finds all of C->live_segments.  Ends in the first window.
 * 0, or a failure of the checker.
 */
int claims_survey(struct check *c, struct context *cx);

/*
 * Goes to the window after the present one, the claims of which that are left
 * stay.  1, 0 where there is none, or a failure of the checker.
 */
int claims_next(struct check *c, struct context *cx);

/*
 * What the DAT has where a log lists block BLOCKNR as B: 2 and *VB if B is in use
 * there, 1 if it is not but its entry says so, or cannot be read, or it is of the
 * DAT itself; 0 if not; or a failure of the checker.
 */
int claims_ask(struct vblocks *vblocks, struct context *cx, uint64_t blocknr,
	       const struct segsum_block *b, struct vblock *vb);

/* Of one worker, who sets the first two, and zeros. */
struct claims {
	struct check *c;
	struct vblocks vblocks;	/* of the worker's own volume */
	struct mapsum sum;	/* of some blocks of one file */
	/* Some block is listed by a number that the DAT has free or elsewhere;
	   for the caller to reset. */
	bool any_unclaimed;
	bool any_needed;	/* a block of the log lives now, or in a snapshot */
};

/*
 * Takes those claims back that the log of SUMMARY, which was just read, lists
 * as the DAT has them.  0, or a failure of the checker.
 */
int claims_settle_log(struct claims *claims, struct context *cx,
		      struct summary *summary);

/* Takes all claims of the blocks [FROM, END) back, of which nothing is known: how
   many, and the last one in *LAST, unless that is NULL. */
uint64_t claims_drop(struct check *c, uint64_t from, uint64_t end,
		     uint64_t *last);

/*
 * After all logs: reports the claims that are left, those of clean segments
 * and of blocks after the ones in use once a segment, others one by one.
 */
int claims_report(struct check *c, struct context *cx);

#endif
