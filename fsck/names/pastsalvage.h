/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block of a directory of a snapshot, filled with the names that are known. */
#ifndef NILFS2_FSCK_PASTSALVAGE_H
#define NILFS2_FSCK_PASTSALVAGE_H

#include "base/context.h"
#include "fsck/names/pastentry.h"
#include "fsck/past/pastblocks.h"

/* Reads the next other version of the block into S->other, of checkpoint
   S->then: 1, 0 where there is no more, -ENOMEM, -EINTR. */
typedef int pastsalvage_next(void *arg, struct context *cx);

/*
 * Unless the current block of S is sound, and no inode lacks a name: fills it
 * with what is sound in it, the names of other versions whose inodes lack
 * them, and "#NUMBER" for all others that do.  What P has of other directories
 * counts.  1, 0 where not all of them have room, or no entry names a
 * directory, -ENOMEM, -EINTR.
 */
int pastsalvage_run(struct pastentry *s, struct context *cx,
		    const struct pastblocks *p, pastsalvage_next *next,
		    void *arg);

#endif
