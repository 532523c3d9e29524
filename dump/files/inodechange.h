/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes that may differ between two checkpoints. */
#ifndef NILFS2_DUMP_INODECHANGE_H
#define NILFS2_DUMP_INODECHANGE_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/root.h"

/* An inode number in both checkpoints. */
struct inodechange {
	uint64_t ino;
	/* NULL: the ifile has no block for it, or it is no directory there. */
	const struct nilfs_inode *a, *b;
};

/* 0, or a failure that ends the comparison. */
typedef int inodechange_visit(void *arg, struct context *cx,
			      const struct inodechange *change);

/*
 * Calls VISIT for each number in the blocks of the ifiles that A and B do not
 * share, numbers ascending within a block; for all those of B where A is NULL.
 * -EUCLEAN, -EIO, -EINTR; failures of VISIT.
 */
int inodechange_run(struct context *cx, struct root *a, struct root *b,
		    inodechange_visit *visit, void *arg);

/*
 * The same for directories that are in A or B and do not have the same blocks in
 * both.
 */
int inodechange_run_dirs(struct context *cx, struct root *a, struct root *b,
			 inodechange_visit *visit, void *arg);

#endif
