/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between two inodes, and which inodes differ at all. */
#ifndef NILFS2_DUMP_INODE_DIFF_H
#define NILFS2_DUMP_INODE_DIFF_H

#include <stdint.h>

#include "base/inoset.h"
#include "out/value.h"
#include "vol/root.h"

enum inode_diff {
	INODE_DIFF_TYPE = 1 << 0,
	INODE_DIFF_INODE = 1 << 1,	/* its number */
	INODE_DIFF_MODE = 1 << 2,
	INODE_DIFF_OWNER = 1 << 3,
	INODE_DIFF_GROUP = 1 << 4,
	INODE_DIFF_LINKS = 1 << 5,
	INODE_DIFF_SIZE = 1 << 6,
	INODE_DIFF_BLOCKS = 1 << 7,
	INODE_DIFF_MTIME = 1 << 8,
	INODE_DIFF_CTIME = 1 << 9,
	INODE_DIFF_DEVICE = 1 << 10,
	INODE_DIFF_FLAGS = 1 << 11,
	INODE_DIFF_CONTENT = 1 << 12, /* also of symbolic links */
	INODE_DIFF_GENERATION = 1 << 13,	/* the number was reused */
};

/* Their names. */
extern const struct value_flag inode_diff_names[];

/* What differs in the two raw inodes themselves. */
unsigned int inode_diff_attributes(const struct nilfs_inode *a,
				   const struct nilfs_inode *b);

/*
 * 1 where the bytes of two files of one size differ, 0 where they do not,
 * -EUCLEAN, -EIO.  Blocks that both maps have in common are not read.
 */
int inode_diff_content(struct context *cx, struct file *a, struct file *b);

/*
 * Puts the numbers of all inodes that are not the same in A and B into SET,
 * from the blocks that their ifiles do not share.  -ENOMEM, -EUCLEAN, -EIO.
 */
int inode_diff_collect(struct context *cx, struct root *a, struct root *b,
		       struct inoset *set);

#endif
