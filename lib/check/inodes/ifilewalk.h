/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks the ifiles of one checkpoint after the other: map, allocator and
 * inodes.  Only inodes in blocks that no earlier checkpoint had are checked.
 *
 * pointers.c checks the pointers of their maps: entries of the DAT and the
 * blocks themselves; and inodes with their maps.
 */
#ifndef NILFS2_CHECK_IFILEWALK_H
#define NILFS2_CHECK_IFILEWALK_H

#include "base/context.h"
#include "base/sparse.h"
#include "check/groups.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "disk/ondisk.h"

struct check;

/* Reasons why a walk did not follow all pointers. */
#define POINTERS_LOST 1u	/* the target is missing */
#define POINTERS_REVISITED 2u	/* the target was visited before in the checkpoint */

/* State of one thread, for many maps. */
struct pointers {
	struct check *check;
	struct volume *vol;		/* volume of this thread */
	struct vblocks vblocks[2];	/* one for data, one for nodes: apart
					   in the DAT */
	/* Virtual blocks visited in the current checkpoint, if others visited
	   most of them before; NULL: all are new. */
	struct sparse *walk;
	/* Virtual blocks with a reported lifetime. */
	struct sparse *reported;
	uint64_t cno;			/* checkpoint of places */
	unsigned int partial;		/* POINTERS_...; 0: all were followed */

	uint64_t used_start, used_end;	/* blocks of the last segment in use */
	uint64_t silent_start, silent_end;	/* virtual blocks reported already */
	uint64_t next_node, ahead;	/* next node expected; end of readahead */
	unsigned int run;		/* consecutive nodes read */

	/* Totals of all inodes checked. */
	uint64_t total_inodes;
	uint64_t total_blocks;		/* all blocks that they refer to */
	uint64_t least;			/* least user inode number with links */

	/* The inode whose map is walked. */
	uint64_t ino;
	uint64_t blocks, nodes;		/* visited in its map */
	uint64_t last_key;		/* key of the last block, if any */
	bool whole;			/* all of the map was walked */
	bool size_judged;		/* the size is known to be wrong */
};

/* All threads share REPORTED. */
void pointers_init(struct pointers *p, struct check *check,
		   struct volume *vol, struct sparse *reported);
void pointers_fini(struct pointers *p);

/*
 * Checks the target of PTR, in the map of p->ino, and adds it to the virtual
 * blocks referred to.  1 and *TARGET if it is to be followed.  0 if not: it was
 * followed for another checkpoint, or it is wrong and was reported.  -ENOMEM,
 * -EINTR.
 */
int pointers_check(struct pointers *p, struct context *cx,
		   const struct mapcheck_pointer *ptr, struct vblock *target);

/* Announces that the node at BLOCKNR is read next, so that consecutive nodes
   are read in few requests. */
void pointers_read_node(struct pointers *p, struct context *cx,
			uint64_t blocknr);

/* A block of inodes. */
struct pointers_block {
	uint64_t first;		/* number of its first inode */
	uint32_t count;
	struct lifetime life;	/* lifetime of the block */
	/* Bitmap that it was checked with before: only inodes marked
	   differently now are checked.  NULL: all are. */
	const uint8_t *before;
};

/*
 * Checks the inodes at DATA that are in use by BITMAP, of their group, or have
 * links.  BITMAP is NULL if it cannot be read.  Errors are findings; -ENOMEM,
 * -EINTR.
 */
int pointers_scan_inodes(struct pointers *p, struct context *cx,
			 const struct pointers_block *block, const void *data,
			 const uint8_t *bitmap);

struct ifilewalk_block;
struct ifilewalk_group;
struct ifilewalk_worker;

/* Counts of the checkpoint that was walked. */
struct ifilewalk_sums {
	bool inodes_known, blocks_known;
	uint64_t inodes, blocks;
	uint64_t own;		/* part of BLOCKS: the ifile's own blocks */
};

struct ifilewalk {
	struct check *check;
	struct pointers pointers;	/* for maps of metadata files */
	struct sparse walk;	/* virtual blocks visited in the current checkpoint */
	struct sparse reported;	/* virtual blocks with a reported lifetime */
	struct ifilewalk_worker *workers;
	unsigned int nworkers;
	struct ifilewalk_block *blocks;	/* to be checked */
	uint32_t nblocks;
	struct ifilewalk_group *counted;	/* ascending by group */
	size_t ncounted, room;
	/* Ifiles that were walked: the first and the last. */
	struct file first, previous;
	const uint8_t *before;		/* bitmap that BLOCKS were checked with */
	bool hidden;			/* inodes in use have no block */
	/* Totals of all workers and checkpoints. */
	uint64_t total_inodes, total_blocks;
	uint64_t least;	/* least user inode number with links, or UINT64_MAX */
	unsigned int partial;		/* POINTERS_... */

	/* The current checkpoint. */
	struct file ifile;
	struct groups groups;
	struct ifilewalk_sums sums;
	/* Groups whose checks are due because they have new blocks, or
	   UINT64_MAX. */
	uint64_t due_entries, due_counts;
};

/*
 * Allocates the sets of virtual blocks, for numbers below END.  The caller
 * allocates check->referenced.  -ENOMEM, -EIO; call ifilewalk_fini() also then.
 */
int ifilewalk_init(struct ifilewalk *w, struct context *cx,
		   struct check *check, uint64_t end);
void ifilewalk_fini(struct ifilewalk *w);

/*
 * Walks the ifile INODE of checkpoint CNO and fills w->sums, unless its map is
 * that of the last one.  WITHIN is the range of checkpoints known to share it.
 * In the first call everything is new.  -ENOMEM, -EINTR.
 */
int ifilewalk_run(struct ifilewalk *w, struct context *cx, uint64_t cno,
		  const struct nilfs_inode *inode,
		  const struct lifetime *within);

/* Reasons why some pointers could not be followed, POINTERS_..., or 0. */
static inline unsigned int ifilewalk_partial(const struct ifilewalk *w)
{
	return w->pointers.partial | w->partial |
	       (w->hidden ? POINTERS_LOST : 0);
}

#endif
