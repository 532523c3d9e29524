/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two checkpoints of a volume compared: the inodes that may differ. */
#ifndef NILFS2_VOL_INODEDIFF_H
#define NILFS2_VOL_INODEDIFF_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/root.h"

/* The numbers that are visited. */
enum inodediff_what {
	/* All in blocks of the ifiles that the checkpoints do not share. */
	INODEDIFF_ALL,
	/* The same, and those that are in use in one bitmap and free in the other,
	   with A and B NULL.  A number may be visited twice. */
	INODEDIFF_BITS,
	/* Directories of A or B that do not have the same blocks in both. */
	INODEDIFF_DIRS,
};

/* An inode number in both checkpoints. */
struct inodediff_item {
	uint64_t ino;
	/* Raw inodes, valid until the visit ends.  NULL: the ifile has no block for
	   the number, or, with INODEDIFF_DIRS, it is no directory. */
	const struct nilfs_inode *a, *b;
};

/* Returns 0; any other value ends the comparison, which returns it. */
typedef int inodediff_visit(void *arg, struct context *cx,
			    const struct inodediff_item *item);

/*
 * Calls VISIT for the numbers WHAT of the checkpoints A and B of one volume, numbers
 * ascending within a block.  A may be NULL: all of B.  Memory: two borrowed blocks.
 * -EUCLEAN, -EIO, -EINTR; or the return value of VISIT.
 */
int inodediff_run(struct context *cx, const struct root *a,
		  const struct root *b, enum inodediff_what what,
		  inodediff_visit *visit, void *arg);

#endif
