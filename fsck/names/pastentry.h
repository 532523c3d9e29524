/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of one block of a directory of a snapshot, repaired. */
#ifndef NILFS2_FSCK_PASTENTRY_H
#define NILFS2_FSCK_PASTENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/inodes/inodelist.h"
#include "fsck/names/othernames.h"
#include "fsck/past/pastblocks.h"
#include "vol/root.h"

struct pastentry {
	struct pastblocks *p;
	uint32_t block_size;
	struct root root;	/* the current snapshot */
	struct inodelist list;	/* its inodes */
	/* How many of them have no name, and the last one; and how many names
	   have no inode. */
	size_t nmissed, ndangling;
	uint64_t missed;

	uint64_t ino, blkoff;	/* the current block of this directory */
	le32 generation;	/* of the directory */
	struct pastblocks_block where;
	char *block;
	/* The same as of another checkpoint; unless IS_OTHER there is none. */
	struct othernames o;
	unsigned int asked;
	bool is_other;
	char *other;
};

/*
 * Changes the current block to what it must have been: 1 where all of it makes
 * sense now, 0 where it does not, -ENOMEM, -EINTR; then it may be anything.
 */
int pastentry_repair(struct pastentry *s, struct context *cx);

/* Begins with the checkpoints nearest to the life of the current block. */
void pastentry_ask(struct pastentry *s);

/*
 * Reads the block of the next checkpoint that has another one into S->other, of
 * S->o.then: 1, 0 where there is no more, -ENOMEM, -EINTR.
 */
int pastentry_next(struct pastentry *s, struct context *cx);

/*
 * Whether all checkpoints that have the block, as well as the next ones, have a
 * directory by that number, or nothing: 1, 0, -ENOMEM, -EINTR.
 */
int pastentry_is_dir(struct pastentry *s, struct context *cx);

/*
 * Unless the current block is sound, and no inode lacks a name: fills it with
 * what is sound in it, the names of other versions whose inodes lack them, and
 * "#NUMBER" for all others that do.  What S->p has of other directories counts.
 * 1, 0 where not all of them have room (then nothing changes unless PARTLY), or
 * no entry names a directory, -ENOMEM, -EINTR.
 */
int pastsalvage_run(struct pastentry *s, struct context *cx, bool partly);

#endif
