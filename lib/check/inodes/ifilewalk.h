/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ifile of one checkpoint after another: its map, its allocator, and its
 * inodes, of which only those in blocks that no checkpoint before had.
 */
#ifndef NILFS2_CHECK_IFILEWALK_H
#define NILFS2_CHECK_IFILEWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/groups.h"
#include "check/inodes/pointers.h"
#include "disk/ondisk.h"

struct check;
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
