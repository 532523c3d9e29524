/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choosing the state of a volume that is repaired. */
#ifndef NILFS2_FSCK_STATES_H
#define NILFS2_FSCK_STATES_H

#include "base/context.h"
#include "fsck/apply/repair.h"

/*
 * Repairs the state that superblocks lead to.  Where they lead to none, states
 * found on the device are repaired on the overlay, newest first, until one has
 * no errors left and was not overwritten; where there is none the one with the
 * least damage stays.  0, or a
 * failure.
 */
int states_run(struct repair *r, struct context *cx);

/*
 * Before any other repair: where the superblocks differ in what never changes,
 * and much is wrong by the one that the volume was opened by, nothing by the
 * other, both become that, and R->now is the look at it.  0, or a failure.
 */
int states_choose_super(struct repair *r, struct context *cx);

#endif
