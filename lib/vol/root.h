/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of the file system at one checkpoint.
 *
 * A checkpoint contains the inode of its ifile, which contains all other inodes.  So
 * any existing checkpoint is a complete, readable tree.
 */
#ifndef NILFS2_VOL_ROOT_H
#define NILFS2_VOL_ROOT_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/file.h"

struct volume;

struct root {
	struct volume *vol;
	uint64_t cno;
	struct nilfs_checkpoint cp;
	struct file ifile;
};

/*
 * Opens checkpoint CNO (0: the latest) of VOL.  -ENOENT if it does not exist or is
 * invalid, -EUCLEAN, -EIO.  Nothing needs to be freed.  Follows
 * nilfs_attach_checkpoint().
 */
int root_open(struct root *root, struct context *cx, struct volume *vol,
	      uint64_t cno);

/*
 * Copies the bytes of inode INO, even if it is not in use: 1; 0 and zeros if the
 * ifile has no block for it.  -EUCLEAN, -EIO.
 */
int root_inode_bytes(struct root *root, struct context *cx, uint64_t ino,
		     struct nilfs_inode *inode);

/*
 * Copies inode INO.  -ENOENT if it does not exist (no block, not allocated, or no
 * links), -EUCLEAN, -EIO.
 */
int root_inode(struct root *root, struct context *cx, uint64_t ino,
	       struct nilfs_inode *inode);

/* The same as a file ready to be read; fails as file_init() for a damaged map. */
int root_file(struct root *root, struct context *cx, uint64_t ino,
	      struct file *file);

#endif
