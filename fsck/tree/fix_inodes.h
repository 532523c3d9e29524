/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes, repaired, for other repairs than that of inodes. */
#ifndef NILFS2_FSCK_FIX_INODES_H
#define NILFS2_FSCK_FIX_INODES_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"

/*
 * Fills the ifile of JOB's writer where it begins without blocks, or the holes
 * that FIXES name: with the blocks that it had and, in place of what cannot be
 * read, with what the newest older checkpoint has.  The cpfile is repaired
 * before.  Inodes in use of holes that stay are freed.  1 where directories were
 * restored, 0, or a failure of the writer, -ENOMEM, -EINTR.
 */
int fix_ifile_fill(struct fixer_job *job, struct context *cx,
		   const struct finding *fixes, size_t n);

enum fix_inodes_which {
	/* Those of FIXES. */
	FIX_INODES_ALL,
	/* Those that directories of FIXES name, and that are in use, but were
	   lost: empty or marked as deleted. */
	FIX_INODES_LOST,
	/* Those that have fewer names than links: the links become the number
	   of the names whatever other checkpoints have. */
	FIX_INODES_COUNTS,
	/* The rest is of the latest state, and for fix_inodes.c alone: those that
	   directories name, all, all but none is given up. */
	FIX_INODES_NAMED,
	FIX_INODES_LATEST,
	FIX_INODES_SPARING,
};

/*
 * Puts in P what inodes of snapshots, not of the latest state, are to be, and
 * notes it.  Nothing is written.  -ENOMEM, -EINTR.
 */
int fix_inodes_past(struct pastblocks *p, struct context *cx,
		    const struct finding *fixes, size_t n,
		    enum fix_inodes_which which);

/*
 * Inodes that directories of FIXES name, in the latest state, and that are
 * empty and marked free, as are others of their blocks: those come back that
 * logs and other checkpoints show to be in use.  How many, or -ENOMEM, -EINTR,
 * or a failure of the writer.
 */
int fix_inodes_named(struct fixer_job *job, struct context *cx,
		     const struct finding *fixes, size_t n);

/*
 * The same for inodes for which the logs have blocks that live although no map
 * leads to them: after damage of bitmaps.  0, or a failure as above.
 */
int fix_inodes_leaked(struct fixer_job *job, struct context *cx);

#endif
