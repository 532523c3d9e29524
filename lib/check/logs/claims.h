/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Comparing the blocks that the DAT claims with the listings of the logs.
 */
#ifndef NILFS2_CHECK_CLAIMS_H
#define NILFS2_CHECK_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"
#include "check/logs/mapsums.h"
#include "check/vblocks.h"
#include "vol/summary.h"

/* Of one worker. */
struct claims {
	struct check *c;
	struct vblocks vblocks;	/* of the worker's own volume */
	struct mapsum sum;	/* of some blocks of one file */
	/* Some block is listed by a number that the DAT has free or elsewhere;
	   for the caller to reset. */
	bool any_unclaimed;
	bool any_needed;	/* a block of the log lives now, or in a snapshot */
};

void claims_init(struct claims *claims, struct check *c, struct volume *vol);
void claims_fini(struct claims *claims);

/*
 * Takes those claims back that the log of SUMMARY, which was just read, lists
 * as the DAT has them.  0, or a failure of the checker.
 */
int claims_settle_log(struct claims *claims, struct context *cx,
		      struct summary *summary);

/* Takes all claims of the blocks [FROM, END) back: nothing is known of them. */
void claims_drop(struct check *c, uint64_t from, uint64_t end);

/*
 * After all logs: reports the claims that are left, those of clean segments
 * and of blocks after the ones in use once a segment, others one by one.
 */
int claims_report(struct check *c, struct context *cx);

#endif
