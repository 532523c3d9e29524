/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A round of repairs, and room for it. */
#ifndef NILFS2_FSCK_NOSPACE_H
#define NILFS2_FSCK_NOSPACE_H

#include "base/context.h"
#include "fsck/apply/repair.h"
#include "fsck/apply/round.h"

/*
 * As round_run(); where that has no place for a log, and R may write over old
 * checkpoints, again with segments that only these need (history.h).  Says in
 * R->no_room that there was none.
 */
int nospace_run(struct repair *r, struct context *cx, struct round *round);

#endif
