/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ifile of one checkpoint after another: its map, its allocator, and its
 * inodes, of which only those in blocks that no checkpoint before had.
 *
 * Checking the pointers of its maps (pointers.c): the entries of the DAT, and
 * their content; and inodes with their maps.
 */
#ifndef NILFS2_CHECK_IFILEWALK_H
#define NILFS2_CHECK_IFILEWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/groups.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "disk/ondisk.h"

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

struct ifilewalk_block;
struct ifilewalk_group;
struct ifilewalk_worker;

/* What is known of the checkpoint that was walked. */
struct ifilewalk_sums {
	bool inodes_known, blocks_known;
	uint64_t inodes, blocks;
	uint64_t own;		/* of BLOCKS, the ifile's own */
};

struct ifilewalk {
	struct check *check;
	struct pointers pointers;	/* of maps of metadata files */
	struct sparse walk;	/* what was met in the current checkpoint */
	struct sparse reported;	/* lifetimes that were reported */
	struct ifilewalk_worker *workers;
	unsigned int nworkers;
	struct ifilewalk_block *blocks;	/* to be checked */
	uint32_t nblocks;
	struct ifilewalk_group *counted;	/* groups, ascending */
	size_t ncounted, room;
	/* Ifiles that were walked: the first one, the last one. */
	struct file first, previous;
	const uint8_t *before;		/* bitmap with which blocks were checked */
	bool hidden;			/* inodes in use have no block */
	/* Of all workers, in all checkpoints. */
	uint64_t total_inodes, total_blocks;
	uint64_t least;	/* number of a user's inode with links; UINT64_MAX */
	unsigned int partial;		/* POINTERS_... */

	/* The current checkpoint. */
	struct file ifile;
	struct groups groups;
	struct ifilewalk_sums sums;
	/* Groups to be checked, as new blocks belong to them; UINT64_MAX. */
	uint64_t due_entries, due_counts;
};

/*
 * Makes the sets of virtual blocks, all below END; check->referenced is left to
 * the caller.  -ENOMEM, -EIO; ifilewalk_fini() also then.
 */
int ifilewalk_init(struct ifilewalk *w, struct context *cx,
		   struct check *check, uint64_t end);
void ifilewalk_fini(struct ifilewalk *w);

/*
 * Walks the ifile INODE of checkpoint CNO, for w->sums, unless its map is that
 * of the last one; WITHIN are the checkpoints that are known to share it.  In
 * the first call everything is new.  -ENOMEM, -EINTR.
 */
int ifilewalk_run(struct ifilewalk *w, struct context *cx, uint64_t cno,
		  const struct nilfs_inode *inode,
		  const struct lifetime *within);

/* Why not all that was referred to could be followed, POINTERS_...; or 0. */
static inline unsigned int ifilewalk_partial(const struct ifilewalk *w)
{
	return w->pointers.partial | w->partial |
	       (w->hidden ? POINTERS_LOST : 0);
}

#endif
