/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When, in a repair, data that was synced before a crash gets into its files. */
#ifndef NILFS2_FSCK_SYNCED_H
#define NILFS2_FSCK_SYNCED_H

#include "fsck/apply/repair.h"

/*
 * Before a round of R: once, what a mount would recover becomes a log, and
 * R->now is the look at that; or, where metadata is broken, it is kept for
 * synced_last().  0, or a failure.
 */
int synced_first(struct repair *r, struct context *cx);

/* After all rounds: what was kept becomes a log, or is given up, and told. */
int synced_last(struct repair *r, struct context *cx);

#endif
