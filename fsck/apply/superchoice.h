/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of two superblocks to believe where they differ in the layout. */
#ifndef NILFS2_FSCK_SUPERCHOICE_H
#define NILFS2_FSCK_SUPERCHOICE_H

#include "fsck/apply/repair.h"

/*
 * Before any other repair: where the superblocks differ in what never changes,
 * and much is wrong by the one that the volume was opened by, nothing by the
 * other, both become that, and R->now is the look at it.  0, or a failure.
 */
int superchoice_run(struct repair *r, struct context *cx);

#endif
