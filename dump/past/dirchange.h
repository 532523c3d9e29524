/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories whose entries differ between two checkpoints. */
#ifndef NILFS2_DUMP_DIRCHANGE_H
#define NILFS2_DUMP_DIRCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/root.h"

/* A directory in both checkpoints. */
struct dirchange {
	uint64_t ino;
	const struct nilfs_inode *a, *b; /* NULL: no directory there */
};

/* 0, or a failure that ends the comparison. */
typedef int dirchange_visit(void *arg, struct context *cx,
			    const struct dirchange *change);

/*
 * Calls VISIT for each directory that is in A or B and does not have the same
 * blocks in both, numbers ascending within a block of the ifile; for all those
 * of B where A is NULL.  Blocks of the ifile that both share are not read.
 * -EUCLEAN, -EIO, -EINTR; failures of VISIT.
 */
int dirchange_run(struct context *cx, struct root *a, struct root *b,
		  dirchange_visit *visit, void *arg);

/* True where both inodes have the same blocks, thus the same content. */
bool dirchange_is_same_map(const struct nilfs_inode *a,
			   const struct nilfs_inode *b);

#endif
