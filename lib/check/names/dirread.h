/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of a directory of a checkpoint, to be read. */
#ifndef NILFS2_CHECK_DIRREAD_H
#define NILFS2_CHECK_DIRREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/blockbatch.h"
#include "check/inodes/inodelist.h"
#include "vol/root.h"

struct dirread {
	uint64_t size;		/* bytes, as the inode says */
	uint64_t expected;	/* blocks, by the size */
	struct blockbatch_map map;	/* the requested ones that it has */
};

/*
 * Adds the blocks of directory number DIR of LIST, the inodes of ROOT, to
 * BATCH, with DIR as owner, and says in *BLOCKS which these are; with ALL also
 * those past the size, which may be what is wrong.  What breaks the map is no
 * failure; -ENOMEM, -EINTR, what the batch fails with.
 */
int dirread_add(struct root *root, struct context *cx,
		const struct inodelist *list, size_t dir, bool all,
		struct blockbatch *batch, struct dirread *blocks);

/* Calls TAKE for the blocks of directories FROM up to, not including, END of
   LIST, those past the size too.  What TAKE fails with, -ENOMEM, -EINTR. */
int dirread_run(struct root *root, struct context *cx,
		const struct inodelist *list, size_t from, size_t end,
		blockbatch_take *take, void *arg);

#endif
