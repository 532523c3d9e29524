/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry of a checkpoint, and the map of an inode in it, from the logs and
   the DAT. */
#ifndef NILFS2_FSCK_DERIVE_CHECKPOINT_H
#define NILFS2_FSCK_DERIVE_CHECKPOINT_H

#include "base/context.h"
#include "check/check.h"
#include "disk/ondisk.h"
#include "fsck/derive/pieces.h"

/*
 * Derives the entry of checkpoint CNO of C's volume, whose DAT must be sound: 1
 * and *CP with the map of the ifile, with counts of 0 that a check corrects,
 * and no snapshot; 0 where the blocks of the ifile do not make one map.
 * -ENOMEM, -EINTR.
 */
int derive_checkpoint(const struct check *c, struct context *cx, uint64_t cno,
		      struct nilfs_checkpoint *cp);

/*
 * The same for the map of inode INO in checkpoint CNO: 1 and in *INODE the map
 * and the count of blocks, in *END one past the last block of data; 0.  P has
 * the pieces of INO, or is NULL: the logs are read.
 */
int derive_checkpoint_map(const struct check *c, struct context *cx,
			  const struct pieces *p, uint64_t ino, uint64_t cno,
			  struct nilfs_inode *inode, uint64_t *end);

#endif
