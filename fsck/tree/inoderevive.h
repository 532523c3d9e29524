/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of the past in the newest checkpoint. */
#ifndef NILFS2_FSCK_INODEREVIVE_H
#define NILFS2_FSCK_INODEREVIVE_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/plan/fixers.h"

/*
 * Makes the map of INODE, INO of an older checkpoint, one that the newest can
 * have: blocks that are still alive stay, others are copied, what cannot be
 * read is a hole.  -ENOSPC, -ENOMEM, -EINTR, -EIO.
 */
int inoderevive_map(struct fixer_job *job, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode);

#endif
