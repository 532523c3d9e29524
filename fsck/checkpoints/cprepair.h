/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checkpoint file's blocks as they should be: the entries, one block at a
 * time, from what is left of them.
 */
#ifndef NILFS2_FSCK_CPREPAIR_H
#define NILFS2_FSCK_CPREPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "fsck/checkpoints/cpblocks.h"
#include "fsck/plan/fixers.h"

struct cprepair {
	struct fixer_job *job;
	const struct check *check;
	struct cpblocks blocks;
	/* Checkpoints that the list of snapshots leads to, on and back. */
	struct sparse on, back;

	/* Of the blocks repaired so far. */
	uint64_t valid;
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots, snapshots_room;
};

/* Gathers what must be known before; CM is all zero but for JOB and CHECK.
   -ENOMEM, -EINTR; cprepair_fini() also then. */
int cprepair_init(struct cprepair *cm, struct context *cx);
void cprepair_fini(struct cprepair *cm);

struct cprepair_block {
	struct cpblock is;	/* vblocknr: where it can stay, or 0 */
	bool changed;		/* the data is not what is there */
	uint32_t valid;		/* entries */
};

/*
 * Fills B, of which is.blkoff and is.data are given: what there is, repaired.
 * Blocks ascend.  The links of the list and the header are left as they are.
 */
int cprepair_block(struct cprepair *cm, struct context *cx,
		   struct cprepair_block *b);

#endif
