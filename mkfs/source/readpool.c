// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory for small files.
 *
 * It is allocated in chunks, in which files follow one another, each as a
 * payload with its content: there is no allocation per file.  A chunk is reused
 * once no file in it is in use; since files are released in about the order in
 * which they came, a few chunks suffice and stay in the processor's cache.
 *
 * Payloads outlive the source: the pool is freed when the last chunk is
 * released.
 */
#include "config.h"

#include "mkfs/source/readpool.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (128u << 10)

struct readpool_chunk {
	struct readpool *pool;
	struct readpool_chunk *next;	/* of those that are free */
	uint32_t holders;		/* files, and the thread that fills it;
					 * atomic */
	uint32_t used;			/* bytes */
	alignas(8) uint8_t bytes[CHUNK_BYTES];
};

struct readpool {
	pthread_mutex_t lock;
	struct readpool_chunk *free;
	uint64_t out, most;		/* chunks that are not free; at most */
	bool closed;
};

/* A file in a chunk. */
struct file {
	struct payload payload;
	struct readpool_chunk *chunk;
	uint32_t size, block_size;
	uint8_t content[];
};

struct readpool *readpool_open(uint64_t most_bytes)
{
	struct readpool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pool->most = most_bytes / CHUNK_BYTES;
	return pool;
}

static void free_pool(struct readpool *pool)
{
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

static struct readpool_chunk *take_chunk(struct readpool *pool)
{
	struct readpool_chunk *chunk = NULL;

	pthread_mutex_lock(&pool->lock);
	if (pool->free) {
		chunk = pool->free;
		pool->free = chunk->next;
	} else if (pool->out < pool->most) {
		chunk = malloc(sizeof(*chunk));
	}
	if (chunk)
		pool->out++;
	pthread_mutex_unlock(&pool->lock);
	if (!chunk)
		return NULL;
	chunk->pool = pool;
	chunk->holders = 1;
	chunk->used = 0;
	return chunk;
}

static void give_back(struct readpool_chunk *chunk)
{
	struct readpool *pool = chunk->pool;
	bool last;

	pthread_mutex_lock(&pool->lock);
	pool->out--;
	last = pool->closed && !pool->out;
	if (pool->closed) {
		free(chunk);
	} else {
		chunk->next = pool->free;
		pool->free = chunk;
	}
	pthread_mutex_unlock(&pool->lock);
	if (last)
		free_pool(pool);
}

void readpool_leave(struct readpool_chunk *chunk)
{
	if (chunk && !__atomic_sub_fetch(&chunk->holders, 1, __ATOMIC_ACQ_REL))
		give_back(chunk);
}

void *readpool_place(struct readpool *pool, struct readpool_chunk **chunk,
		     size_t want)
{
	struct readpool_chunk *c = *chunk;

	want += sizeof(struct file);
	if (c && CHUNK_BYTES - c->used < want) {
		readpool_leave(c);
		c = NULL;
	}
	if (!c)
		c = take_chunk(pool);
	*chunk = c;
	return c ? ((struct file *)(c->bytes + c->used))->content : NULL;
}

static int fill(struct payload *payload, struct context *cx, uint64_t at,
		uint32_t count, void *buf)
{
	const struct file *f = (const struct file *)payload;
	size_t from = (size_t)at * f->block_size;
	size_t bytes = (size_t)count * f->block_size, n = f->size - from;

	(void)cx;
	if (n > bytes)
		n = bytes;
	memcpy(buf, f->content + from, n);
	memset((char *)buf + n, 0, bytes - n);
	return 0;
}

static void release(struct payload *payload)
{
	readpool_leave(((struct file *)payload)->chunk);
}

static const struct payload_ops file_ops = {
	.fill = fill,
	.free = release,
};

struct payload *readpool_payload(struct readpool_chunk *chunk, size_t size,
				 uint32_t block_size)
{
	struct file *f = (struct file *)(chunk->bytes + chunk->used);

	payload_init(&f->payload, &file_ops);
	f->chunk = chunk;
	f->size = (uint32_t)size;
	f->block_size = block_size;
	chunk->used += (uint32_t)((sizeof(*f) + size + 7) & ~(size_t)7);
	__atomic_fetch_add(&chunk->holders, 1, __ATOMIC_RELAXED);
	return &f->payload;
}

void readpool_close(struct readpool *pool)
{
	struct readpool_chunk *chunk;
	bool last;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	while (pool->free) {
		chunk = pool->free;
		pool->free = chunk->next;
		free(chunk);
	}
	pool->closed = true;
	last = !pool->out;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		free_pool(pool);
}
