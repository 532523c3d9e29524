/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account of losses of a repair: when it is computed, and for which states.
 */
#ifndef NILFS2_FSCK_ACCOUNTING_H
#define NILFS2_FSCK_ACCOUNTING_H

#include "base/context.h"
#include "fsck/apply/repair.h"
#include "fsck/plan/look.h"

/*
 * NOW is a state that R keeps: where it is that of a log on the device, and not
 * of one that the repair added, R->base is that log from now on.
 */
void accounting_note(struct repair *r, struct context *cx,
		     const struct look *now);

/*
 * Compares the state before the repair with what it came to, before its commit:
 * R->account.  0, or -EINTR.
 */
int accounting_run(struct repair *r, struct context *cx);

/*
 * Sets the state in the superblocks on the overlay of R to that of a volume
 * without errors, if it is one.  Asks before it takes back that the kernel met
 * errors.  0, or a failure.
 */
int settle_run(struct repair *r, struct context *cx);

#endif
