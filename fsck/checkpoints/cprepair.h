/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole checkpoint file, repaired, from what is left of it: to the next log,
 * or as derived blocks.
 */
#ifndef NILFS2_FSCK_CPREPAIR_H
#define NILFS2_FSCK_CPREPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "fsck/checkpoints/cpblocks.h"
#include "fsck/derive/derived.h"
#include "fsck/plan/fixers.h"

struct cprepair_block {
	struct cpblock is;	/* vblocknr: where it can stay, or 0 */
	bool changed;		/* the data is not what is there */
	uint32_t valid;		/* entries */
};

/* All zero but for JOB and CHECK, and where it goes. */
struct cprepair {
	struct fixer_job *job;
	const struct check *check;
	void *arg;		/* of the three */
	/* Takes block B, changed or not. */
	int (*put)(void *arg, struct context *cx,
		   const struct cprepair_block *b);
	/* Reads block BLKOFF as it was put: 1, 0 for a hole, a failure. */
	int (*look)(void *arg, struct context *cx, uint64_t blkoff, void *buf);
	/* Block BLKOFF is CONTENT from now on. */
	int (*change)(void *arg, struct context *cx, uint64_t blkoff,
		      const void *content);

	struct cpblocks blocks;
	/* Checkpoints that the list of snapshots leads to, on and back. */
	struct sparse on, back;

	/* Of the blocks repaired so far. */
	uint64_t valid;
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots, snapshots_room;
};

/* Gathers what must be known before.  -ENOMEM, -EINTR; cprepair_fini() also
   then. */
int cprepair_init(struct cprepair *cm, struct context *cx);
void cprepair_fini(struct cprepair *cm);

/*
 * Puts all blocks, links the snapshots and counts them in the header.  -ENOMEM,
 * -EINTR, or what the functions of CM fail with.
 */
int cprepair_write(struct cprepair *cm, struct context *cx);

/* Changes SIZE bytes at FIELD of the entry of CNO to NEW: 1, 0 where they are
   that, or a failure. */
int cprepair_change(const struct cprepair *cm, struct context *cx,
		    uint64_t cno, size_t field, const void *new, size_t size);

/*
 * Derives the blocks of the cpfile of JOB's volume, if its map leads to all of
 * them: entries by their ifiles, older copies and the logs, list and header by
 * the entries.  -ENOMEM, -EINTR.
 */
int derive_cpfile(struct derived *d, struct context *cx,
		  struct fixer_job *job);

#endif
