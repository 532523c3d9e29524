/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state that superblocks declare after a repair. */
#ifndef NILFS2_FSCK_SETTLE_H
#define NILFS2_FSCK_SETTLE_H

#include "base/context.h"
#include "fsck/apply/repair.h"

/*
 * Sets the state in the superblocks on the overlay of R to that of a volume
 * without errors, if it is one.  Asks before it takes back that the kernel met
 * errors.  0, or a failure.
 */
int settle_run(struct repair *r, struct context *cx);

#endif
