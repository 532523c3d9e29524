/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only superblocks know. */
#ifndef NILFS2_FSCK_COMPARESUPER_H
#define NILFS2_FSCK_COMPARESUPER_H

#include "base/context.h"
#include "dev/dev.h"
#include "disk/ondisk.h"
#include "fsck/account/losslist.h"

/*
 * Adds a loss to *L unless the superblocks of the device BEFORE the repair show
 * that label, UUID and other properties are what AFTER has.  0, -EINTR.
 */
int comparesuper_run(struct losslist *l, struct context *cx, struct dev *before,
		     const struct nilfs_super_block *after);

#endif
