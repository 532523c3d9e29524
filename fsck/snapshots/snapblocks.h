/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of snapshots and plain checkpoints, with other content than they have
 * (snapblocks.c); other checkpoints, from the nearest on (nearcps.c).
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

/* Checkpoints that are asked for an inode, or a name, at most. */
#define NEARCPS_MOST 64u

/* All zero at first. */
struct nearcps {
	uint64_t *cnos;		/* of all checkpoints, ascending */
	size_t n;
	size_t below, above;	/* those before and after that were not asked */
	bool after;		/* the next one is of the latter */
	unsigned int asked;	/* by nearcps_twin(), and users */
};

/*
 * Lists the checkpoints of VOL; none where they cannot be read.  -ENOMEM,
 * -EINTR.
 */
int nearcps_open(struct nearcps *a, struct context *cx, struct volume *vol);

/*
 * Begins with those nearest to LIFE, of something that all in it share.  Of
 * what the newest checkpoint has it has no end, and all others are before.
 */
void nearcps_begin(struct nearcps *a, struct lifetime life);

/* The next one, in *CNO, after and before in turn: 1, 0 at the end, -EINTR. */
int nearcps_next(struct nearcps *a, struct context *cx, uint64_t *cno);

/*
 * Inode INO in the next of a few checkpoints in which it has the map of INODE:
 * 1 and *OTHER, 0 at the end, -ENOMEM, -EINTR.
 */
int nearcps_twin(struct nearcps *a, struct context *cx, struct volume *vol,
		uint64_t ino, const struct nilfs_inode *inode,
		struct nilfs_inode *other);

/* Of those on the side of CNO, the last one, there are no more. */
void nearcps_end_side(struct nearcps *a, uint64_t cno);

void nearcps_close(struct nearcps *a);

struct snapblocks_block {
	uint64_t ino;
	uint64_t vblocknr;
	uint64_t key;		/* first block of the file in it */
	unsigned int level;	/* 0: a block of the file, else a node */

	/* Filled in. */
	uint64_t blocknr;
	struct lifetime life;
	void *content;		/* a block, as it is to be */
	uint64_t number;	/* instead of VBLOCKNR, once it is written */
};

/* All zero but for JOB. */
struct snapblocks {
	struct fixer_job *job;
	struct snapblocks_block *list;	/* by VBLOCKNR */
	size_t n, room;
	struct vblocks vblocks;
};

/*
 * The block that WHAT names (what is filled in is 0), to have its
 * content changed; a second time with the content that it was given: 1 and *B,
 * which is valid until the next call.  With CREATE one that cannot be read is
 * all zero.  0 where there is no such block, it cannot be read, or it lives in
 * the newest checkpoint as well: that is repaired first.  -ENOMEM, -EINTR.
 */
int snapblocks_change(struct snapblocks *p, struct context *cx,
		      const struct snapblocks_block *what, bool create,
		      struct snapblocks_block **b);

/*
 * Copies block B->vblocknr to BUF, as it is or as the list has it, and fills in
 * B: 1, 0 where it could not be changed, -ENOMEM, -EINTR.
 */
int snapblocks_read(struct snapblocks *p, struct context *cx,
		    struct snapblocks_block *b, void *buf);

/* snapblocks_change() of block KEY of FILE, as a snapshot has it. */
int snapblocks_change_in(struct snapblocks *p, struct context *cx,
			 struct file *file, uint64_t key,
			 struct snapblocks_block **b);

/* The block VBLOCKNR of the list, or NULL. */
struct snapblocks_block *snapblocks_find(const struct snapblocks *p,
					 uint64_t vblocknr);

/* Takes it out of the list, if it is there. */
void snapblocks_drop(struct snapblocks *p, uint64_t vblocknr);

/*
 * Writes the blocks, and all that leads to them, in every checkpoint that has
 * them; where that is possible they are changed where they are.
 * -ENOMEM, -EINTR, -ENOSPC, -EIO, -EUCLEAN.
 */
int snapblocks_write(struct snapblocks *p, struct context *cx);

void snapblocks_fini(struct snapblocks *p);

#endif
