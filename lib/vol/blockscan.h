/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks of a small file in order, one borrowed at a time.
 */
#ifndef NILFS2_VOL_BLOCKSCAN_H
#define NILFS2_VOL_BLOCKSCAN_H

#include <stdint.h>

#include "base/context.h"
#include "vol/extent.h"

struct blockscan {
	struct file *file;
	struct extent_cursor extents;
	struct extent extent;	/* the rest of the run */
	uint64_t blkoff;	/* of the current or the previous block */
	const void *block;	/* borrowed from the cache, or NULL */
};

/* Starts before the first block of FILE (borrowed) at or after BLKOFF. */
int blockscan_open(struct blockscan *scan, struct context *cx,
		   struct file *file, uint64_t blkoff);

/*
 * Releases the block and borrows the next existing one: 1, 0 at the end, -EUCLEAN or
 * -EIO.
 */
int blockscan_next(struct blockscan *scan, struct context *cx);

/* Releases the block early; the next step continues after it. */
void blockscan_put(struct blockscan *scan);

/* Accepts a scan that is all zero. */
void blockscan_close(struct blockscan *scan);

#endif
