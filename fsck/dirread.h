/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of a directory of a checkpoint, to be read. */
#ifndef NILFS2_FSCK_DIRREAD_H
#define NILFS2_FSCK_DIRREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/blockbatch.h"
#include "fsck/inodelist.h"
#include "vol/root.h"

struct dirread {
	uint64_t expected;	/* blocks, by the size */
	uint64_t found;		/* of them, those in the map */
	bool more;		/* the map has others */
	bool broken;		/* part of the map cannot be read */
};

/*
 * Adds the blocks of directory number DIR of LIST, the inodes of ROOT, to
 * BATCH, with DIR as owner, and says in *BLOCKS which these are.  What breaks
 * the map is no failure; -ENOMEM, -EINTR, what the batch fails with.
 */
int dirread_add(struct root *root, struct context *cx,
		const struct inodelist *list, size_t dir,
		struct blockbatch *batch, struct dirread *blocks);

#endif
