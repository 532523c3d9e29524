/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checkpoint file's blocks as they should be: the entries, one block at a
 * time, from what is left of them.
 */
#ifndef NILFS2_FSCK_CPMEND_H
#define NILFS2_FSCK_CPMEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "disk/ondisk.h"
#include "fsck/checkpoints/cpblocks.h"
#include "fsck/plan/fixers.h"

struct cpmend {
	struct fixer_job *job;
	const struct check *check;
	struct cpblocks blocks;
	/* Checkpoints that the list of snapshots leads to, on and back. */
	struct sparse on, back;

	/* Of the blocks mended so far. */
	uint64_t valid;
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots, snapshots_room;
};

/* Gathers what must be known before; CM is all zero but for JOB and CHECK.
   -ENOMEM, -EINTR; cpmend_fini() also then. */
int cpmend_init(struct cpmend *cm, struct context *cx);
void cpmend_fini(struct cpmend *cm);

struct cpmend_block {
	struct cpblock is;	/* vblocknr: where it can stay, or 0 */
	bool changed;		/* the data is not what is there */
	uint32_t valid;		/* entries */
};

/*
 * Fills B, of which is.blkoff and is.data are given: what there is, mended.
 * Blocks ascend.  The links of the list and the header are left as they are.
 */
int cpmend_block(struct cpmend *cm, struct context *cx,
		 struct cpmend_block *b);

#endif
