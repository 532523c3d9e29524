/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An inode of a snapshot, as other checkpoints have it. */
#ifndef NILFS2_FSCK_SNAPINODE_H
#define NILFS2_FSCK_SNAPINODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/rule.h"
#include "fsck/past/pastblocks.h"

struct inodefix {
	struct pastblocks *p;
	struct volume *vol;
	uint64_t *cnos;		/* of all checkpoints, ascending */
	size_t n;
};

/* The current inode. */
struct snapinode {
	uint64_t cno, ino;
	enum rule rule;
	uint64_t got;			/* of the finding */
	struct pastblocks_block where;
	bool changed;			/* other inodes in the block were */
	struct nilfs_inode inode;
	/* The nearest one that could be in its place. */
	bool found;
	uint64_t found_cno;
	struct nilfs_inode other;
	/* The nearest one of all, of which only the map cannot be. */
	uint64_t near_cno;
	struct nilfs_inode near;
};

/*
 * Asks checkpoints with another block of the ifile, from the nearest on, for
 * the inode: 1 where one has it as it was, in PT->other; 0, and what else there
 * is in PT.  -ENOMEM, -EINTR.
 */
int snapinode_ask(struct inodefix *s, struct context *cx,
		  struct snapinode *pt);

#endif
