/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of snapshots, repaired block by block. */
#ifndef NILFS2_FSCK_PASTNAMES_H
#define NILFS2_FSCK_PASTNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/inodes/inodelist.h"
#include "fsck/names/othernames.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"
#include "vol/root.h"

struct pastnames {
	struct pastblocks *p;
	struct volume *vol;
	uint32_t block_size;
	const struct fix *fixes;
	size_t n;

	struct root root;	/* the current snapshot */
	struct inodelist list;	/* its inodes */
	bool listed;		/* all of them */
	/* How many of them have no name, and the last one; and how many names
	   have no inode. */
	size_t nmissed, ndangling;
	uint64_t missed;

	uint64_t ino, blkoff;	/* the current block of this directory */
	le32 generation;	/* of the directory */
	struct pastblocks_block where;
	char *block;		/* to be changed */
	/* The same as of another checkpoint; unless IS_OTHER there is none. */
	struct othernames o;
	unsigned int asked;
	bool is_other;
	char *other;
};

/*
 * Puts in P, which is empty, what blocks of directories of snapshots are to be,
 * and notes it: first entries that lead to a wrong inode, by the inodes that
 * FIXES say have lost a name or have one too many; if there are none, the
 * blocks that FIXES name; or else the roots, wherever there is room, for inodes
 * without a name that nothing else is wrong with, also of snapshots that share
 * these.  Nothing is written.  -ENOMEM, -EINTR.
 */
int pastnames_repair(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n);

/*
 * Likewise puts in P directories without the names of inodes that FIXES say
 * have too many: those in blocks that are older versions, if there are as many.
 */
int pastnames_remove(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n);

/*
 * Changes the current block to what it must have been, by itself and by the
 * other version, if any: 1 where all of it makes sense now, 0 where it does
 * not, -ENOMEM, -EINTR; then it may be anything.
 */
int pastentry_repair(struct pastnames *s, struct context *cx);

/* Begins with the checkpoints nearest to the life of the current block. */
void pastentry_ask(struct pastnames *s);

/*
 * Reads the block of the next checkpoint that has another one into S->other, of
 * S->o.then: 1, 0 where there is no more, -ENOMEM, -EINTR.
 */
int pastentry_next(struct pastnames *s, struct context *cx);

/*
 * Unless the current block is sound, and no inode lacks a name: fills it with
 * what is sound in it, the names of other versions whose inodes lack them, and
 * "#NUMBER" for all others that do.  What S->p has of other directories counts.
 * 1, 0 where not all of them have room (then nothing changes unless PARTLY), no
 * entry names a directory, or the checkpoints that have the block, or the next
 * ones, have another type of file by that number.  -ENOMEM, -EINTR.
 */
int pastsalvage_run(struct pastnames *s, struct context *cx, bool partly);

#endif
