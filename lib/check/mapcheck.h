/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Check of a whole block map.  vol/blockmap stops at the first broken node;
   this check reports it and continues with the next one. */
#ifndef NILFS2_CHECK_MAPCHECK_H
#define NILFS2_CHECK_MAPCHECK_H

#include "base/context.h"
#include "check/vblocks.h"
#include "disk/ondisk.h"
#include "find/finding.h"

struct mapcheck_pointer {
	uint64_t key;		/* first file block below it */
	uint64_t ptr;		/* as stored: a virtual block, in the DAT a
				   physical one */
	unsigned int level;	/* 0: a data block, else a node of that level */
	/* Lifetime of the node or inode that contains the pointer: the lifetime
	   of the target must include it. */
	struct lifetime within;
};

/* Pointers to data blocks, all those of a node or a direct map. */
struct mapcheck_blocks {
	const le64 *keys;	/* NULL: a direct map, 0, 1 and so on */
	const le64 *ptrs;	/* 0: a hole, only in a direct map */
	uint32_t count;
	struct lifetime within;	/* of the node or inode */
};

struct mapcheck {
	struct volume *vol;
	struct findings *findings;	/* NULL: not reported */
	uint64_t cno, ino;		/* for places */
	struct lifetime within;		/* of the inode */
	/*
	 * Called for each pointer, keys ascending, a node before the blocks
	 * below it.  1: follow it; *BLOCKNR is its block on the device and
	 * *LIFE its lifetime (both are used for nodes only).  0: do not follow
	 * it; it was seen before, then with *BLOCKNR if known, or it is wrong
	 * and was reported.  A failure ends the walk.
	 */
	int (*visit)(void *arg, struct context *cx,
		     const struct mapcheck_pointer *p, uint64_t *blocknr,
		     struct lifetime *life);
	/* If not NULL, called for data blocks instead of visit(): 0, or a
	   failure that ends the walk. */
	int (*visit_blocks)(void *arg, struct context *cx,
			    const struct mapcheck_blocks *blocks);
	/*
	 * If not NULL, called in order for each part of the map that is not
	 * walked: blocks [KEY, END) of the file.  0, or a failure that ends the
	 * walk.
	 */
	int (*skip)(void *arg, struct context *cx, uint64_t key, uint64_t end);
	void *arg;
};

/*
 * Walks the map of INODE and checks root, levels, order and ranges of keys,
 * null pointers, and readability.  Broken rules are findings, one per node, and
 * the blocks below are skipped.  0 if the whole map was walked, 1 if not, or a
 * failure of visit(), -ENOMEM, -EINTR.  Memory: one block of the cache for each
 * level.
 */
int mapcheck_run(const struct mapcheck *m, struct context *cx,
		 const struct nilfs_inode *inode);

#endif
