/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes, repaired, for other repairs than that of inodes. */
#ifndef NILFS2_FSCK_FIX_INODES_H
#define NILFS2_FSCK_FIX_INODES_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/past/pastblocks.h"

enum fix_inodes_which {
	/* Those of FIXES. */
	FIX_INODES_ALL,
	/* Those that directories of FIXES name, and that are in use, but were
	   lost: empty or marked as deleted. */
	FIX_INODES_LOST,
	/* Those that have fewer names than links: the links become the number
	   of the names whatever other checkpoints have. */
	FIX_INODES_COUNTS,
	/* Those of the latest state, and those of which none is given up: for
	   fix_inodes() alone. */
	FIX_INODES_LATEST,
	FIX_INODES_SPARING,
};

/*
 * Puts in P what inodes of snapshots, not of the latest state, are to be, and
 * notes it.  Nothing is written.  -ENOMEM, -EINTR.
 */
int fix_inodes_past(struct pastblocks *p, struct context *cx,
		    const struct fix *fixes, size_t n,
		    enum fix_inodes_which which);

/*
 * Inodes that directories of FIXES name, in the latest state, and that are
 * empty and marked free, as are others of their blocks: those come back that
 * logs and other checkpoints show to be in use.  How many, or -ENOMEM, -EINTR,
 * or a failure of the writer.
 */
int fix_inodes_named(struct fixer_job *job, struct context *cx,
		     const struct fix *fixes, size_t n);

/*
 * The same for inodes for which the logs have blocks that live although no map
 * leads to them: after damage of bitmaps.  0, or a failure as above.
 */
int fix_inodes_leaked(struct fixer_job *job, struct context *cx);

#endif
