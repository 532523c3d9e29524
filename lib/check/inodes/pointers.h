/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checking the pointers of a checkpoint's maps: the entries of the DAT, and
 * their content; and the inodes of its ifile with their maps.
 */
#ifndef NILFS2_CHECK_POINTERS_H
#define NILFS2_CHECK_POINTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"

struct check;

/* Why a walk did not follow all pointers. */
#define POINTERS_LOST 1u	/* what they lead to is not there */
#define POINTERS_TWICE 2u	/* it was met in the same checkpoint before */

/* Of one thread, over many maps. */
struct pointers {
	struct check *check;
	struct volume *vol;		/* of this thread */
	struct vblocks vblocks[2];	/* of data, of nodes: apart in the DAT */
	/* Of the checkpoint that is walked: what was met in it, where much of
	   it was met in another one before; NULL: all of it is new. */
	struct sparse *walk;
	/* Virtual blocks whose lifetime was reported. */
	struct sparse *reported;
	uint64_t cno;			/* for places */
	unsigned int partial;		/* POINTERS_...; 0: all were followed */

	uint64_t used_start, used_end;	/* blocks of a segment in use */
	uint64_t silent_start, silent_end;	/* virtual blocks spoken of */
	uint64_t next_node, ahead;	/* where nodes were read ahead */
	unsigned int run;		/* nodes met in a row */

	/* Of all inodes that were checked. */
	uint64_t total_inodes;
	uint64_t total_blocks;		/* all that they refer to */
	uint64_t least;			/* number of a user's, with links */

	/* The inode whose map is walked. */
	uint64_t ino;
	uint64_t blocks, nodes;		/* met in its map */
	uint64_t last_key;		/* of a block, where there is one */
	bool whole;			/* all of it was walked */
	bool size_judged;		/* the size itself is wrong */
};

/* What a pointer leads to. */
struct target {
	uint64_t blocknr;
	struct lifetime life;
};

/* REPORTED is shared by all threads. */
void pointers_init(struct pointers *p, struct check *check,
		   struct volume *vol, struct sparse *reported);
void pointers_fini(struct pointers *p);

/*
 * Checks where PTR, of the map of p->ino, leads, and enters it among the
 * virtual blocks referred to.  1 and *TARGET where that is to be followed; 0
 * where it is not: another checkpoint has it too, with which it was followed,
 * or it cannot be, and there is a finding.  -ENOMEM, -EINTR.
 */
int pointers_check(struct pointers *p, struct context *cx,
		   const struct mapcheck_pointer *ptr, struct target *target);

/* Says that the node at BLOCKNR will be read now, so that a row of nodes is
   read in few requests. */
void pointers_read_node(struct pointers *p, struct context *cx,
			uint64_t blocknr);

/* A block of inodes. */
struct pointers_block {
	uint64_t first;		/* number of the first inode */
	uint32_t count;
	struct lifetime life;	/* of the block */
	/* With which it was checked: only inodes that are marked otherwise now are
	   checked.  NULL: all are. */
	const uint8_t *before;
};

/*
 * Checks the inodes at DATA that BITMAP, of their group, says are in use, or
 * that have links; BITMAP is NULL where it cannot be read.  What is wrong is
 * found; -ENOMEM, -EINTR.
 */
int pointers_scan_inodes(struct pointers *p, struct context *cx,
			 const struct pointers_block *block, const void *data,
			 const uint8_t *bitmap);

#endif
