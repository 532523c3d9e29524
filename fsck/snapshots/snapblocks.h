/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs outside the latest state: new content for blocks of snapshots and plain
 * checkpoints (snapblocks.c), and the search for good content in the nearest other
 * checkpoints (nearcps.c). Fixers of maps, ifiles and directories use both.
 */
#ifndef NILFS2_FSCK_SNAPBLOCKS_H
#define NILFS2_FSCK_SNAPBLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "fsck/plan/fixers.h"
#include "vol/file.h"

/* The maximum number of checkpoints that are searched
   for an inode or a name. */
#define NEARCPS_SEARCH_MAX 64u

/* All zero at first. */
struct nearcps {
	uint64_t *cnos;		/* numbers of all checkpoints, ascending */
	size_t n;
	size_t below, above;	/* the numbers of earlier and later ones left */
	bool after;		/* the next one is a later one */
	unsigned int asked;	/* number searched, also by callers */
};

/* Lists the checkpoints of VOL; none if they cannot
   be read. -ENOMEM, -EINTR. */
int nearcps_open(struct nearcps *a, struct context *cx, struct volume *vol);

/*
 * Starts with the checkpoints nearest to LIFE, the lifetime of a block that all
 * checkpoints in it share. A block of the newest checkpoint has no end, and all
 * others are before it.
 */
void nearcps_begin(struct nearcps *a, struct lifetime life);

/* The next checkpoint in *CNO, alternately later and earlier: 1, 0 at the end,
   -EINTR. */
int nearcps_next(struct nearcps *a, struct context *cx, uint64_t *cno);

/* Finds inode INO in the next of up to NEARCPS_SEARCH_MAX checkpoints where it has
   the map of INODE: 1 and *OTHER, 0 at the end, -ENOMEM, -EINTR. */
int nearcps_find_same_map(struct nearcps *a, struct context *cx, struct volume *vol,
		uint64_t ino, const struct nilfs_inode *inode,
		struct nilfs_inode *other);

/* Ends the search on the side of CNO, the last checkpoint returned. */
void nearcps_end_side(struct nearcps *a, uint64_t cno);

void nearcps_close(struct nearcps *a);

struct snapblocks_block {
	uint64_t ino;
	uint64_t vblocknr;
	uint64_t key;		/* first file block in it */
	unsigned int level;	/* 0: a file block, else a node */

	/* Set by the functions below. */
	uint64_t blocknr;
	struct lifetime life;
	void *content;		/* the new content of the block */
	uint64_t number;	/* replaces VBLOCKNR once it is written */
};

/* All zero at first except for JOB. */
struct snapblocks {
	struct fixer_job *job;
	struct snapblocks_block *list;	/* by VBLOCKNR */
	size_t n, room;
	struct vblocks vblocks;
};

/*
 * Adds the block that WHAT names (its result fields are 0) to the list, so that
 * its content can be changed. A second call returns the content given before. 1
 * and *B, valid until the next call. With CREATE an unreadable block is all
 * zero. 0 if the block does not exist, cannot be read, or is live in the newest
 * checkpoint as well, which is repaired first. -ENOMEM, -EINTR.
 */
int snapblocks_change(struct snapblocks *p, struct context *cx,
		      const struct snapblocks_block *what, bool create,
		      struct snapblocks_block **b);

/* Copies block B->vblocknr to BUF, on the device or from the list, and fills in
   B: 1, 0 if it cannot be changed, -ENOMEM, -EINTR. */
int snapblocks_read(struct snapblocks *p, struct context *cx,
		    struct snapblocks_block *b, void *buf);

/* snapblocks_change() for block KEY of FILE in a snapshot. */
int snapblocks_change_in(struct snapblocks *p, struct context *cx,
			 struct file *file, uint64_t key,
			 struct snapblocks_block **b);

/* The block VBLOCKNR of the list, or NULL. */
struct snapblocks_block *snapblocks_find(const struct snapblocks *p,
					 uint64_t vblocknr);

/* Removes VBLOCKNR from the list, if present. */
void snapblocks_drop(struct snapblocks *p, uint64_t vblocknr);

/*
 * Writes the blocks, and all blocks that lead to them, in every checkpoint that
 * has them; in place where possible. -ENOMEM, -EINTR, -ENOSPC, -EIO, -EUCLEAN.
 */
int snapblocks_write(struct snapblocks *p, struct context *cx);

void snapblocks_fini(struct snapblocks *p);

#endif
