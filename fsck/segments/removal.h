/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments that are emptied: all that lives in them goes to new logs. */
#ifndef NILFS2_FSCK_REMOVAL_H
#define NILFS2_FSCK_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "disk/segsum.h"
#include "fsck/plan/fixers.h"

/* A block that the DAT has in one of the segments. */
struct removal_block {
	uint64_t blocknr;
	uint64_t vblocknr;		/* 0: a block of the DAT itself */
	uint64_t start, end;
	bool listed;			/* by its number */
	struct segsum_block as;		/* by its log, or by a map */
};

/* All zero but for JOB, WHICH and the inodes. */
struct removal {
	struct fixer_job *job;
	struct bitmap *which;		/* the segments; borrowed */
	/* Whose blocks the logs may list as another's. */
	const uint64_t *inos;
	size_t ninos;

	/* Filled in. */
	struct removal_block *blocks;	/* ascending by place */
	size_t n, room;
	uint64_t *cnos;			/* checkpoints, ascending */
	size_t ncnos;
};

/*
 * Moves what any checkpoint needs out of the segments in WHICH; the numbers of
 * the rest are free, and the segments are in use without blocks.  A segment
 * with a block that neither its logs nor maps identify is taken out of WHICH
 * and stays.  -ENOSPC, -EUCLEAN, -EIO, -ENOMEM, -EINTR; removal_fini() also then.
 */
int removal_run(struct removal *r, struct context *cx);
void removal_fini(struct removal *r);

#endif
