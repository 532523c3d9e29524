/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ifile of one checkpoint after another: its map, its allocator, and its
 * inodes, of which only those in blocks that no checkpoint before had.
 */
#ifndef NILFS2_CHECK_IFILEWALK_H
#define NILFS2_CHECK_IFILEWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/groups.h"
#include "check/inodes/inodecount.h"
#include "check/inodes/pointers.h"
#include "disk/ondisk.h"

struct check;
struct ifilewalk_worker;

/* A block of inodes that is new. */
struct ifilewalk_block {
	uint64_t blkoff, blocknr;
	struct lifetime life;
};

struct ifilewalk {
	struct check *check;
	struct pointers *pointers;	/* borrowed: of the calling thread */
	struct inodecount count;
	struct ifilewalk_worker *workers;
	unsigned int nworkers;
	struct ifilewalk_block *blocks;	/* to be checked */
	uint32_t nblocks;
	/* Ifiles that were walked: the first one, the last one. */
	struct file first, previous;
	bool have_first;
	const uint8_t *before;		/* bitmap with which blocks were checked */
	bool hidden;			/* inodes in use have no block */

	/* The current checkpoint. */
	uint64_t cno;
	struct file ifile;
	struct groups groups;
	uint64_t met;			/* blocks of the ifile, nodes too */
	/* Groups to be checked, as new blocks belong to them. */
	uint64_t due_entries, due_counts;
	bool have_entries, have_counts;
};

/* What is known of the checkpoint that was walked. */
struct ifilewalk_sums {
	bool inodes_known, blocks_known;
	uint64_t inodes, blocks;
	uint64_t own;		/* of BLOCKS, the ifile's own */
};

/* POINTERS must outlive it.  -ENOMEM, -EIO; ifilewalk_fini() also then. */
int ifilewalk_init(struct ifilewalk *w, struct context *cx,
		   struct check *check, struct pointers *pointers);
void ifilewalk_fini(struct ifilewalk *w);

/*
 * Walks the ifile INODE of checkpoint CNO; WITHIN are the checkpoints that are
 * known to share it.  In the first call everything is new.  -ENOMEM, -EINTR.
 */
int ifilewalk_run(struct ifilewalk *w, struct context *cx, uint64_t cno,
		  const struct nilfs_inode *inode,
		  const struct lifetime *within, struct ifilewalk_sums *sums);

/* The least number of a user's inode with links, in any; UINT64_MAX: none. */
uint64_t ifilewalk_least(const struct ifilewalk *w);

/* Why not all that the ifiles refer to could be followed, POINTERS_...; or 0. */
unsigned int ifilewalk_partial(const struct ifilewalk *w);

#endif
