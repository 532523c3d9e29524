/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Content of small files on its way from the source into the logs. */
#ifndef NILFS2_MKFS_READPOOL_H
#define NILFS2_MKFS_READPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "log/payload.h"

struct readpool;
struct readpool_chunk;

/* A pool of up to MOST_BYTES, of which nothing is taken yet; or NULL. */
struct readpool *readpool_open(uint64_t most_bytes);

/*
 * Space for WANT bytes (up to READPOOL_MOST), in *CHUNK if it has room: it is
 * NULL at first and belongs to one thread.  NULL if all of the pool is in use,
 * without waiting.
 */
#define READPOOL_MOST (16u << 10)
void *readpool_place(struct readpool *pool, struct readpool_chunk **chunk,
		     size_t want);

/*
 * The first SIZE bytes of the place given last from CHUNK, as a file of whole
 * blocks; without this the place is given again.
 */
struct payload *readpool_payload(struct readpool_chunk *chunk, size_t size,
				 uint32_t block_size);

/* CHUNK, or NULL, is not filled any further. */
void readpool_leave(struct readpool_chunk *chunk);

/*
 * Closes the pool; chunks in use are freed when they are released.  NULL is
 * accepted.
 */
void readpool_close(struct readpool *pool);

#endif
