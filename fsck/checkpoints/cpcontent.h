/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole checkpoint file, repaired: to the next log, or as derived blocks. */
#ifndef NILFS2_FSCK_CPCONTENT_H
#define NILFS2_FSCK_CPCONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/checkpoints/cprepair.h"
#include "fsck/derive/derived.h"

/* Where it goes. */
struct cpcontent {
	struct cprepair cm;	/* all zero but for JOB and CHECK */
	void *arg;		/* of the three */
	/* Takes block B, changed or not. */
	int (*put)(void *arg, struct context *cx,
		   const struct cprepair_block *b);
	/* Reads block BLKOFF as it was put: 1, 0 for a hole, a failure. */
	int (*look)(void *arg, struct context *cx, uint64_t blkoff, void *buf);
	/* Block BLKOFF is CONTENT from now on. */
	int (*change)(void *arg, struct context *cx, uint64_t blkoff,
		      const void *content);
};

/*
 * Puts all blocks, links the snapshots and counts them in the header.  C->cm
 * was initialized.  -ENOMEM, -EINTR, or what the functions of C fail with.
 */
int cpcontent_write(struct cpcontent *c, struct context *cx);

/* Changes SIZE bytes at FIELD of the entry of CNO to NEW: 1, 0 where they are
   that, or a failure. */
int cpcontent_change(const struct cpcontent *c, struct context *cx,
		     uint64_t cno, size_t field, const void *new, size_t size);

/*
 * Derives the blocks of the cpfile of JOB's volume, if its map leads to all of
 * them: entries by their ifiles, older copies and the logs, list and header by
 * the entries.  -ENOMEM, -EINTR.
 */
int derive_cpfile(struct derived *d, struct context *cx,
		  struct fixer_job *job);

#endif
