/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The round of repairs that comes first: flipped bits. */
#ifndef NILFS2_FSCK_BITROUND_H
#define NILFS2_FSCK_BITROUND_H

#include "fsck/apply/repair.h"

/*
 * Corrects what the first look of R found of flipped bits, as far as the user
 * wants it and the volume is no worse for it: R->now is the look at that.  0,
 * or a failure.
 */
int bitround_run(struct repair *r, struct context *cx);

#endif
