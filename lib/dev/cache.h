/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cache of device blocks with a fixed byte limit, which owns all block buffers.
 * Read-only: writes go directly to the device.
 *
 * One cache belongs to one thread.  Each worker has its own.
 */
#ifndef NILFS2_DEV_CACHE_H
#define NILFS2_DEV_CACHE_H

#include "dev/dev.h"

struct cache;

/*
 * Opens a cache of blocks of BLOCK_SIZE bytes over DEV (borrowed) that never holds more
 * than LIMIT bytes of blocks, or 16 blocks if LIMIT is less.
 */
int cache_open(struct cache **cachep, struct context *cx, struct dev *dev,
	       uint32_t block_size, size_t limit);
void cache_close(struct cache *cache);

/*
 * Borrows block BLOCKNR: *DATA stays valid until cache_put().  At most as many
 * blocks as the cache holds can be borrowed at a time (-ENOBUFS beyond that).  A
 * missing block is read from the device: -EIO as dev_read().
 */
int cache_get(struct cache *cache, struct context *cx, uint64_t blocknr,
	      const void **data);
void cache_put(struct cache *cache, const void *data);

/* The same for a block that is probably not needed again. */
void cache_put_spent(struct cache *cache, const void *data);

/* Bytes of memory for blocks. */
uint64_t cache_bytes(const struct cache *cache);

/* True if cache_get() would find the block without a read. */
bool cache_has(const struct cache *cache, uint64_t blocknr);

/*
 * Reads ahead blocks [BLOCKNR, BLOCKNR + COUNT): missing ones are read in one
 * request, as far as the limit allows.  Failures are ignored; the later
 * cache_get() reports them.
 */
void cache_readahead(struct cache *cache, struct context *cx, uint64_t blocknr,
		     unsigned int count);

#endif
