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
 * Entries that follow one another, of a block or, where nothing lies between,
 * of several, with the bits that say which are in use.
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
	/* Called, where ENTRIES is NULL, for each entry in use: the same. */
	int (*used)(void *arg, struct context *cx, unsigned int worker,
		    uint64_t vblocknr, const struct nilfs_dat_entry *de);
	/*
	 * Called for each block of the DAT file itself, data and nodes, in
	 * the calling thread: ITEM->ptr is where it is.  May be NULL.
	 */
	int (*own_block)(void *arg, struct context *cx,
			 const struct blockmap_item *item);
	/*
	 * Called instead of both for each block that an entry in use names, DE
	 * of VBLOCKNR, and that the map of the DAT has, OWN.
	 */
	int (*block)(void *arg, struct context *cx, uint64_t blocknr,
		     uint64_t vblocknr, const struct nilfs_dat_entry *de,
		     const struct blockmap_item *own);
	/*
	 * Called for each data block of the DAT that cannot be read, with the
	 * failure in CX, by several workers at once; the scan continues without
	 * it.  If it is NULL, or fails, the scan fails.
	 */
	int (*unreadable)(void *arg, struct context *cx, uint64_t blkoff);
	void *arg;
};

/*
 * Visits every block of DAT entries that exists and has a bitmap.  Memory is
 * a few hundred KiB a worker, whatever the size.  -EUCLEAN where the DAT's map
 * is broken, -ENOMEM, -EIO, or what a visitor returned.
 */
int datscan_run(struct volume *vol, struct context *cx,
		const struct datscan_visitor *visitor);

/* The same with one worker, whatever cx->threads is. */
int datscan_run_alone(struct volume *vol, struct context *cx,
		      const struct datscan_visitor *visitor);

/* True where entry I of BLOCK is in use. */
static inline bool datscan_is_used(const struct datscan_block *block,
				   uint32_t i)
{
	uint32_t bit = block->bit + i;

	return block->bitmap[bit / 8] >> bit % 8 & 1;
}

/* First entry from I on that is in use, or that is not, or BLOCK->count. */
uint32_t datscan_next_used(const struct datscan_block *block, uint32_t i);
uint32_t datscan_next_free(const struct datscan_block *block, uint32_t i);

static inline const struct nilfs_dat_entry *
datscan_entry(const struct datscan_block *block, uint32_t i)
{
	return (const void *)(block->entries + (uint64_t)i * block->stride);
}

#endif
