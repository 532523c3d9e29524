// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading small files before they are planned.
 *
 * Small files take time mainly to be found by name, twice: to plan them and to
 * read them.  Here a file is found once, by any of the workers, which opens it,
 * reads it and then gets its attributes.  Content that does not fit into the
 * memory for it is read later, as that of large files.
 *
 * These workers are not those that write logs: the latter block on the device,
 * and planning would wait for them.  Files come in batches that are reused, so
 * that some are read while others are planned.
 *
 * Getting the attributes after reading only detects a write meanwhile if they
 * are compared with earlier ones.  A file that has not changed for long, by its
 * own time stamps, was the same before; for any other one they are also read
 * before.  Files of one age are mostly in one directory, so the batch remembers
 * that it met a young one.  The clocks of a file server and of this machine may
 * differ, hence "long".
 */
#include "config.h"

#include "base/pool.h"
#include "mkfs/source/readahead.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/write/payload.h"
#include "mkfs/source/attrlist.h"

#define SMALL 8192u		/* bytes */
#define SETTLED (10 * 60ll)	/* seconds without a change */
#define BATCH 32u		/* files of one job */
#define BATCHES 8u		/* on their way at once */
#define DEPTH_PER_WORKER 2
#define POOL_PER_WORKER (4u << 20)

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

#define CHUNK_BYTES (128u << 10)

struct readpool;

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
struct pooled_file {
	struct payload payload;
	struct readpool_chunk *chunk;
	uint32_t size, block_size;
	uint8_t content[];
};

/* A pool of up to MOST_BYTES, of which nothing is taken yet; or NULL. */
static struct readpool *readpool_open(uint64_t most_bytes)
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

/* CHUNK, or NULL, is not filled any further. */
static void readpool_leave(struct readpool_chunk *chunk)
{
	if (chunk && !__atomic_sub_fetch(&chunk->holders, 1, __ATOMIC_ACQ_REL))
		give_back(chunk);
}

/*
 * Space for WANT bytes, in *CHUNK if it has room: it is NULL at first and
 * belongs to one thread.  NULL if all of the pool is in use, without waiting.
 */
static void *readpool_place(struct readpool *pool,
			    struct readpool_chunk **chunk, size_t want)
{
	struct readpool_chunk *c = *chunk;

	want += sizeof(struct pooled_file);
	if (c && CHUNK_BYTES - c->used < want) {
		readpool_leave(c);
		c = NULL;
	}
	if (!c)
		c = take_chunk(pool);
	*chunk = c;
	return c ? ((struct pooled_file *)(c->bytes + c->used))->content : NULL;
}

static int fill_payload(struct payload *payload, struct context *cx,
			uint64_t at, uint32_t count, void *buf)
{
	const struct pooled_file *f = (const struct pooled_file *)payload;
	size_t from = (size_t)at * f->block_size;
	size_t bytes = (size_t)count * f->block_size, n = f->size - from;

	(void)cx;
	if (n > bytes)
		n = bytes;
	memcpy(buf, f->content + from, n);
	memset((char *)buf + n, 0, bytes - n);
	return 0;
}

static void release_payload(struct payload *payload)
{
	readpool_leave(((struct pooled_file *)payload)->chunk);
}

static const struct payload_ops file_ops = {
	.fill = fill_payload,
	.free = release_payload,
};

/*
 * The first SIZE bytes of the place given last from CHUNK, as a file of whole
 * blocks; without this the place is given again.
 */
static struct payload *readpool_payload(struct readpool_chunk *chunk,
					size_t size, uint32_t block_size)
{
	struct pooled_file *f = (struct pooled_file *)(chunk->bytes + chunk->used);

	payload_init(&f->payload, &file_ops);
	f->chunk = chunk;
	f->size = (uint32_t)size;
	f->block_size = block_size;
	chunk->used += (uint32_t)((sizeof(*f) + size + 7) & ~(size_t)7);
	__atomic_fetch_add(&chunk->holders, 1, __ATOMIC_RELAXED);
	return &f->payload;
}

/*
 * Closes the pool; chunks in use are freed when they are released.  NULL is
 * accepted.
 */
static void readpool_close(struct readpool *pool)
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

/* What one job does. */
struct batch {
	struct readahead *ra;
	const struct populate_name *names;
	size_t n;
	bool small;		/* the files here are small, mostly */
	bool young;		/* some of them changed lately */
	unsigned int left;	/* 1: not done yet */
	struct readahead_file files[BATCH];
};

struct readahead {
	struct pool *workers;
	unsigned int nworkers;
	uint32_t block_size;
	int64_t settled;	/* what changed before does not change now */
	struct readpool *pool;
	struct readpool_chunk **chunks;		/* of each worker */
	/* The directory. */
	struct sourcedir *dir;
	int dirfd;
	const struct populate_name *names;
	size_t n;		/* 0: not read ahead */
	size_t given;		/* of these, to the workers */
	struct batch batches[BATCHES];	/* they make their rounds */
};

static uint64_t sensible_pool(const struct context *cx, unsigned int workers)
{
	uint64_t bytes = (uint64_t)(workers + 1) * POOL_PER_WORKER;

	return bytes < cx->max_memory / 4 ? bytes : cx->max_memory / 4;
}

static int start_workers(struct readahead *ra, struct context *cx)
{
	int err = pool_open(&ra->workers, cx,
			    cx->threads * DEPTH_PER_WORKER + 1);

	if (err)
		return err;
	ra->nworkers = pool_workers(cx, UINT64_MAX);
	ra->pool = readpool_open(sensible_pool(cx, ra->nworkers));
	ra->chunks = calloc(ra->nworkers, sizeof(*ra->chunks));
	return ra->pool && ra->chunks ? 0 : fail(cx, -ENOMEM,
						 "files of the source");
}

int readahead_open(struct readahead **rap, struct context *cx,
		   uint32_t block_size, int64_t now)
{
	struct readahead *ra = calloc(1, sizeof(*ra));
	int err;

	*rap = NULL;
	if (!ra)
		return fail(cx, -ENOMEM, "files of the source");
	ra->settled = now - SETTLED;
	ra->block_size = block_size;
	err = start_workers(ra, cx);
	if (err)
		readahead_close(ra);
	else
		*rap = ra;
	return err;
}

static int look_at(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, st);
}

static bool is_settled(const struct readahead *ra, const struct statx *st)
{
	return st->stx_mtime.tv_sec < ra->settled &&
	       st->stx_ctime.tv_sec < ra->settled;
}

static bool same_time(const struct statx_timestamp *a,
		      const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_unchanged(const struct statx *a, const struct statx *b)
{
	return a->stx_size == b->stx_size &&
	       same_time(&a->stx_mtime, &b->stx_mtime) &&
	       same_time(&a->stx_ctime, &b->stx_ctime);
}

static bool is_whole(const struct statx *st, ssize_t n)
{
	return S_ISREG(st->stx_mode) && n > 0 && n <= (ssize_t)SMALL &&
	       (uint64_t)n == st->stx_size;
}

/* Whether all of the file open at FD is at CONTENT now, and what it is. */
static bool read_whole(int fd, char *content, struct readahead_file *file)
{
	/* One byte more, to see whether it ends. */
	ssize_t n = pread(fd, content, SMALL + 1, 0);

	file->known = !look_at(fd, &file->st);
	return file->known && is_whole(&file->st, n);
}

/* The same, and whether it stayed what it was. */
static bool read_content(struct batch *b, int fd, char *content,
			 struct readahead_file *file)
{
	struct statx before;

	if (!b->young) {
		if (!read_whole(fd, content, file))
			return false;
		b->young = !is_settled(b->ra, &file->st);
		if (!b->young)
			return true;
	}
	return !look_at(fd, &before) && read_whole(fd, content, file) &&
	       is_unchanged(&before, &file->st);
}

/* Reads NAME to memory if there is some; false: it was not even opened. */
static bool read_file(struct batch *b, struct readpool_chunk **chunk,
		      const char *name, struct readahead_file *file)
{
	char *content = readpool_place(b->ra->pool, chunk, SMALL + 1);
	int fd;

	if (!content)
		return false;
	fd = sourcedir_try_file(b->ra->dir, name);
	if (fd < 0)
		return false;
	if (read_content(b, fd, content, file)) {
		file->losses = attrlist_losses(fd);
		file->payload = readpool_payload(*chunk, file->st.stx_size,
						 b->ra->block_size);
	}
	close(fd);
	return true;
}

static void do_file(struct batch *b, struct readpool_chunk **chunk,
		    const struct populate_name *name,
		    struct readahead_file *file)
{
	if (name->type == NILFS_FT_DIR)
		return;
	if (b->small && name->type == NILFS_FT_REG_FILE &&
	    read_file(b, chunk, name->name, file))
		return;
	file->known = !statx(b->ra->dirfd, name->name,
			     AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
			     STATX_BASIC_STATS, &file->st);
}

static int do_batch(struct context *cx, void *arg, unsigned int worker,
		    bool skip)
{
	struct batch *b = arg;
	size_t i;

	(void)cx;
	for (i = 0; i < b->n && !skip; i++)
		do_file(b, &b->ra->chunks[worker], &b->names[i], &b->files[i]);
	return 0;
}

/* Whether it was worth the while to open all of these. */
static bool are_small(const struct batch *b)
{
	size_t i, small = 0;

	for (i = 0; i < b->n; i++)
		small += b->files[i].known &&
			 b->files[i].st.stx_size <= SMALL;
	return small > b->n / 2;
}

/* Gives the next batch, with files as small as the last ones were. */
static int give(struct readahead *ra, struct context *cx, bool small)
{
	struct batch *b = &ra->batches[ra->given / BATCH % BATCHES];
	size_t i;

	b->ra = ra;
	b->names = ra->names + ra->given;
	b->n = ra->n - ra->given < BATCH ? ra->n - ra->given : BATCH;
	b->small = small;
	b->young = false;
	for (i = 0; i < b->n; i++) {
		b->files[i].known = false;
		b->files[i].payload = NULL;
	}
	ra->given += b->n;
	return pool_give(ra->workers, cx, do_batch, b, &b->left);
}

/* Releases the files of B, which no worker uses. */
static void forget(struct batch *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		payload_put(b->files[i].payload);
	b->n = 0;
}

/* Continues with the batch that begins with name I. */
static int next_batch(struct readahead *ra, struct context *cx, size_t i)
{
	struct batch *b = &ra->batches[i / BATCH % BATCHES];
	struct batch *last = &ra->batches[(i / BATCH + BATCHES - 1) % BATCHES];
	bool small = !i || are_small(last);
	int err = 0;

	if (i)
		forget(last);
	while (!err && ra->given < ra->n &&
	       ra->given < i + (size_t)BATCHES * BATCH)
		err = give(ra, cx, small);
	return err ? err : pool_wait(ra->workers, cx, &b->left);
}

void readahead_begin(struct readahead *ra, struct sourcedir *dir, int dirfd,
		     const struct populate_name *names, size_t n)
{
	ra->dir = dir;
	ra->dirfd = dirfd;
	ra->names = names;
	ra->n = n < READAHEAD_LEAST ? 0 : n;
	ra->given = 0;
}

int readahead_look(struct readahead *ra, struct context *cx, size_t i,
		   struct readahead_file **file)
{
	struct readahead_file *f;
	int err = 0;

	*file = NULL;
	if (!ra->n)
		return 0;
	if (i % BATCH == 0)
		err = next_batch(ra, cx, i);
	f = &ra->batches[i / BATCH % BATCHES].files[i % BATCH];
	if (!err && f->known)
		*file = f;
	return err;
}

void readahead_end(struct readahead *ra)
{
	size_t i;

	for (i = 0; i < BATCHES; i++) {
		pool_wait(ra->workers, NULL, &ra->batches[i].left);
		forget(&ra->batches[i]);
	}
	ra->n = 0;
}

void readahead_close(struct readahead *ra)
{
	unsigned int i;

	if (!ra)
		return;
	for (i = 0; ra->chunks && i < ra->nworkers; i++)
		readpool_leave(ra->chunks[i]);
	free(ra->chunks);
	pool_close(ra->workers);
	readpool_close(ra->pool);
	free(ra);
}
