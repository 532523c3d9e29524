/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checking a whole block map: while vol/blockmap stops at the first broken node,
   this reports it and continues beside it. */
#ifndef NILFS2_CHECK_MAPCHECK_H
#define NILFS2_CHECK_MAPCHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "find/finding.h"

struct volume;

/* Checkpoints to which a block belongs: from START on, below END. */
struct lifetime {
	uint64_t start, end;
};

struct mapcheck_pointer {
	uint64_t key;		/* first file block below it */
	uint64_t ptr;		/* as stored: virtual, of the DAT physical */
	unsigned int level;	/* 0: a data block, else a node of that level */
	/* Of the node or inode that holds the pointer: the pointer's own
	   lifetime includes it. */
	struct lifetime within;
};

/* Pointers to data blocks, all those of a node or a direct map. */
struct mapcheck_blocks {
	const le64 *keys;	/* NULL: a direct map, 0, 1 and so on */
	const le64 *ptrs;	/* 0: a hole, only in a direct map */
	uint32_t count;
	struct lifetime within;	/* of what holds them */
};

struct mapcheck {
	struct volume *vol;
	struct findings *findings;	/* NULL: not reported */
	uint64_t cno, ino;		/* for places */
	struct lifetime within;		/* of the inode */
	/*
	 * Called for each pointer, keys ascending, a node before what is below
	 * it.  Returns 1 where it is to be followed, with *BLOCKNR, its block
	 * on the device, and *LIFE, its lifetime (of nodes only both are used);
	 * 0 where it is not (seen before, then with *BLOCKNR if it is known,
	 * or wrong and reported); a failure ends the walk.
	 */
	int (*visit)(void *arg, struct context *cx,
		     const struct mapcheck_pointer *p, uint64_t *blocknr,
		     struct lifetime *life);
	/* Where it is not NULL, called for data blocks instead of visit():
	   0, or a failure that ends the walk. */
	int (*visit_blocks)(void *arg, struct context *cx,
			    const struct mapcheck_blocks *blocks);
	/*
	 * Where it is not NULL, called in order for each part of the map that
	 * is not walked: what there is of blocks [KEY, END) of the file.  0, or
	 * a failure that ends the walk.
	 */
	int (*skip)(void *arg, struct context *cx, uint64_t key, uint64_t end);
	void *arg;
};

/*
 * Walks the map of INODE: root, levels, order and ranges of keys, null
 * pointers, blocks that cannot be read.  Broken rules are findings, one for a
 * node, and what is below is left out.  0 where the whole map was walked, 1
 * where it was not, or what visit() failed with, -ENOMEM, -EINTR.  Memory: a
 * block of the cache for each level.
 */
int mapcheck_run(const struct mapcheck *m, struct context *cx,
		 const struct nilfs_inode *inode);

#endif
