/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checking the inodes of a block of an ifile with their maps.
 */
#ifndef NILFS2_CHECK_INODESCAN_H
#define NILFS2_CHECK_INODESCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/inodes/pointers.h"
#include "check/mapcheck.h"

/* Of one thread, over many blocks. */
struct inodescan {
	struct check *check;
	struct pointers pointers;
	uint64_t total_inodes;		/* all that were checked */
	uint64_t total_blocks;		/* all that they refer to */
	uint64_t least;			/* number of a user's, with links */

	/* The current map. */
	uint64_t ino;
	uint64_t blocks, nodes;		/* met in it */
	uint64_t last_key;		/* of a block, where there is one */
	bool whole;			/* all of it was walked */
	bool size_judged;		/* the size itself is wrong */
};

/* REPORTED as of pointers_init(). */
void inodescan_init(struct inodescan *s, struct check *check,
		    struct volume *vol, struct sparse *reported);
void inodescan_fini(struct inodescan *s);

struct inodescan_block {
	uint64_t first;		/* number of the first inode */
	uint32_t count;
	struct lifetime life;	/* of the block */
	/* With which it was checked: only inodes that are marked otherwise now are
	   checked.  NULL: all are. */
	const uint8_t *before;
};

/*
 * Checks the inodes at DATA that BITMAP, of their group, says are in use, or
 * that have links; BITMAP is NULL where it cannot be read.  What is wrong is
 * found; -ENOMEM, -EINTR.
 */
int inodescan_run(struct inodescan *s, struct context *cx,
		  const struct inodescan_block *block, const void *data,
		  const uint8_t *bitmap);

#endif
