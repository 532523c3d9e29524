/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of one inode, made right. */
#ifndef NILFS2_FSCK_INODEMEND_H
#define NILFS2_FSCK_INODEMEND_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/volume.h"

/*
 * Mends what can be told from INODE, the latest checkpoint's INO, and its
 * blocks: times, sizes, and what the type (NILFS_FT_..., as its names say, or
 * NILFS_FT_UNKNOWN) has to be.  Links, and what is wrong with the map, are left
 * alone.  1 where the rest is right now; 0 where nothing can be made of it;
 * -ENOMEM, -EINTR.
 */
int inodemend_fields(struct volume *vol, struct context *cx, uint64_t ino,
		     uint8_t type, struct nilfs_inode *inode);

#endif
