/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The type of an inode, where its directory entry says another. */
#ifndef NILFS2_CHECK_INODETYPE_H
#define NILFS2_CHECK_INODETYPE_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/volume.h"

/*
 * Whether the type of INODE, number INO, is wrong, as an entry says TYPE
 * (NILFS_FT_...), another one, and content, permissions or blocks agree with
 * that: 1; 0 also where the content cannot be read, or other fields of the inode
 * are nonsense as well.  -ENOMEM, -EINTR.
 */
int inodetype_is_wrong(struct volume *vol, struct context *cx, uint64_t ino,
		       const struct nilfs_inode *inode, uint8_t type);

/* Whether the first block of INODE, number INO, begins as that of a directory
   does, with "." for itself, whatever its type: 1, 0, -EUCLEAN, -EIO. */
int inodetype_is_directory(struct volume *vol, struct context *cx,
			   uint64_t ino, const struct nilfs_inode *inode);

#endif
