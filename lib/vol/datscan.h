/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One streaming pass over the whole DAT, by several workers.
 */
#ifndef NILFS2_VOL_DATSCAN_H
#define NILFS2_VOL_DATSCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct blockmap_item;
struct volume;

/*
 * Consecutive entries of one block, or of several blocks without gaps between them,
 * with the bits that show which of them are in use.
 */
struct datscan_block {
	uint64_t first;		/* virtual block number of the first entry */
	uint32_t count;		/* entries, all of one group */
	uint32_t stride;	/* bytes from one to the next */
	const char *entries;
	const uint8_t *bitmap;	/* of the group */
	uint32_t bit;		/* of the first entry */
};

struct datscan_visitor {
	/*
	 * Called for all blocks of entries, by several workers at once;
	 * WORKER is below cx->threads.  A failure ends the scan.
	 */
	int (*entries)(void *arg, struct context *cx, unsigned int worker,
		       const struct datscan_block *block);
	/* Called for each entry in use, if ENTRIES is NULL, in the same way. */
	int (*used)(void *arg, struct context *cx, unsigned int worker,
		    uint64_t vblocknr, const struct nilfs_dat_entry *de);
	/*
	 * Called for each block of the DAT file itself, data and nodes, in the
	 * calling thread: ITEM->ptr is its block number.  May be NULL.
	 */
	int (*own_block)(void *arg, struct context *cx,
			 const struct blockmap_item *item);
	/*
	 * Replaces both: called for each block of an entry in use, DE of VBLOCKNR, and
	 * for each block of the DAT's own map, OWN.
	 */
	int (*block)(void *arg, struct context *cx, uint64_t blocknr,
		     uint64_t vblocknr, const struct nilfs_dat_entry *de,
		     const struct blockmap_item *own);
	/*
	 * Called for each data block of the DAT that cannot be read, with the
	 * failure in CX, by several workers at once; the scan continues without the
	 * block.  If it is NULL, or fails, the scan fails.
	 */
	int (*unreadable)(void *arg, struct context *cx, uint64_t blkoff);
	void *arg;
};

/*
 * Visits every existing block of DAT entries that has a bitmap.  Memory is a few
 * hundred KiB per worker, for a DAT of any size.  -EUCLEAN if the DAT's map is
 * damaged, -ENOMEM, -EIO, or the return value of a visitor.
 */
int datscan_run(struct volume *vol, struct context *cx,
		const struct datscan_visitor *visitor);

/* The same with one worker, for any cx->threads. */
int datscan_run_alone(struct volume *vol, struct context *cx,
		      const struct datscan_visitor *visitor);

/* True where entry I of BLOCK is in use. */
static inline bool datscan_is_used(const struct datscan_block *block,
				   uint32_t i)
{
	uint32_t bit = block->bit + i;

	return block->bitmap[bit / 8] >> bit % 8 & 1;
}

/* The first entry from I on that is in use (or not in use), or BLOCK->count. */
uint32_t datscan_next_used(const struct datscan_block *block, uint32_t i);
uint32_t datscan_next_free(const struct datscan_block *block, uint32_t i);

static inline const struct nilfs_dat_entry *
datscan_entry(const struct datscan_block *block, uint32_t i)
{
	return (const void *)(block->entries + (uint64_t)i * block->stride);
}

#endif
