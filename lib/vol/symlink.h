/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The targets of symbolic links. */
#ifndef NILFS2_VOL_SYMLINK_H
#define NILFS2_VOL_SYMLINK_H

#include <stddef.h>

#include "vol/file.h"

/* Longest target that the kernel returns, bytes without a NUL. */
#define SYMLINK_TARGET_MAX 4095

/*
 * Copies the target of symbolic link FILE, with a NUL after it, and sets *LEN to its
 * length in bytes.  It ends at the size of the file or at a zero byte, as readlink()
 * on a mounted volume returns it (page_get_link); it may be empty.  -EUCLEAN, -EIO
 * as file_block().
 */
int symlink_target(struct file *file, struct context *cx,
		   char target[SYMLINK_TARGET_MAX + 1], size_t *len);

/*
 * Whether the target of symbolic link INODE, number INO, is as long as its size: 1;
 * 0 if a zero byte or a hole ends it after *LEN bytes.  The kernel writes no such
 * target (nilfs_symlink).  readlink() ends there, and a lookup resolves an empty
 * target to the directory that contains the link (pick_link).  -EUCLEAN, -EIO as
 * file_block().
 */
int symlink_is_whole(struct volume *vol, struct context *cx, uint64_t ino,
		     const struct nilfs_inode *inode, size_t *len);

#endif
