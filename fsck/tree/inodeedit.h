/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes of any checkpoint, changed in their place. */
#ifndef NILFS2_FSCK_INODEEDIT_H
#define NILFS2_FSCK_INODEEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "fsck/past/pastblocks.h"
#include "fsck/tree/inodedecide.h"
#include "log/meta/metafile.h"

struct inodeedit {
	struct fixer_job *job;
	const struct nilfs_geometry *geo;
	const struct palloc *palloc;
	struct inodedecide decide;	/* opened by the caller */

	uint64_t latest;	/* number of the latest state */
	struct metafile *ifile;		/* of that; borrowed */
	int64_t more;		/* inodes in use there than before */
	bool bits;		/* any bit there was changed */
	uint64_t *revived;	/* whose maps are of the past */
	size_t nrevived, revived_room;
	size_t ndirs;		/* directories that can be read again */
	size_t nlater;		/* inodes whose type is not known yet */
	bool last;		/* those are cleared */

	struct pastblocks *past;	/* of snapshots; borrowed */
	char *block;		/* the one that was read last */
};

/* PAST: NULL where only the latest state is changed. */
void inodeedit_open(struct inodeedit *e, struct fixer_job *job,
		    struct pastblocks *past);

/*
 * Inode INO of checkpoint CNO, which breaks RULE, in *C: 1, 0 (and zeros) where
 * its block is missing or, of a snapshot, cannot be changed.
 */
int inodeedit_case(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, enum rule rule, struct inodecase *c);

/* Inode C becomes C->inode: 1, 0 where it is that already. */
int inodeedit_write(struct inodeedit *e, struct context *cx,
		    const struct inodecase *c);

/* The same after inodedecide_run(). */
int inodeedit_decided(struct inodeedit *e, struct context *cx,
		      const struct inodecase *c);

/* Makes inode C what it is to be, or gives it up: 1 where it is another now,
   0. */
int inodeedit_decide(struct inodeedit *e, struct context *cx,
		     struct inodecase *c);

/* Whether INO is marked in use: 1, 0, or a failure. */
int inodeedit_is_used(const struct inodeedit *e, struct context *cx,
		      uint64_t cno, uint64_t ino);

/* Marks INO in use, or free, and counts the group again. */
int inodeedit_mark(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, bool used);

/* Clears INO and marks it free.  Its blocks leak. */
int inodeedit_clear(struct inodeedit *e, struct context *cx, uint64_t cno,
		    uint64_t ino);

/* The end, by ERR so far: the writer learns what was changed, and maps of the
   past are repaired. */
int inodeedit_close(struct inodeedit *e, struct context *cx, int err);

#endif
