/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of the past, rewritten with all that leads to them. */
#ifndef NILFS2_FSCK_PASTWRITE_H
#define NILFS2_FSCK_PASTWRITE_H

#include "base/context.h"
#include "fsck/past/pastblocks.h"

/* As pastblocks_write(), by one more log.  Adds to the list of P what leads to
   its blocks. */
int pastwrite_run(struct pastblocks *p, struct context *cx);

#endif
