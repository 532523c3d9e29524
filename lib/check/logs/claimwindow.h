/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks that the DAT claims, a window of the device at a time: as much of
 * it as the table memory of the check holds.
 */
#ifndef NILFS2_CHECK_CLAIMWINDOW_H
#define NILFS2_CHECK_CLAIMWINDOW_H

#include <stdint.h>

#include "base/context.h"
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
