/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first round of repairs: flipped bits. */
#ifndef NILFS2_FSCK_BITREPAIR_H
#define NILFS2_FSCK_BITREPAIR_H

#include "fsck/apply/repair.h"

/*
 * Corrects the flipped bits found by the first look of R, as far as the user
 * agrees and the volume gets no worse: R->now is the look at the result.  0, or
 * a failure.
 */
int bitrepair_run(struct repair *r, struct context *cx);

#endif
