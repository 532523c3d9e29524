// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading small files before they are planned.
 *
 * For a small file most of the time is spent on finding it by name, once to plan it
 * and once to read it.  Here a worker opens a file once, reads it and then gets its
 * attributes.  Content that does not fit into the buffers is read later, like that of
 * large files.  These workers are separate from the log writers, which block on the
 * device.  Batches of files are reused, so some are read while others are planned.
 *
 * Attributes that are read after the content detect a concurrent write only if they
 * are compared with earlier ones.  A file whose time stamps are old did not change.
 * For any other file the attributes are also read before the content.  Files of one
 * age are mostly in one directory, so a batch records that it contains a young one.
 * The clocks of a file server and of this machine may differ, hence SETTLED.
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
#define BATCHES 8u		/* in progress */
#define DEPTH_PER_WORKER 2
#define POOL_PER_WORKER (4u << 20)

/*
 * Memory for small files.
 *
 * Chunks hold several files, each a payload with its content, so there is no
 * allocation per file.  A chunk is reused when no file in it is in use.  Files are
 * released in about the order of allocation, so a few chunks suffice and stay in the
 * processor's cache.
 *
 * Payloads outlive the source: the pool is freed when the last chunk is released.
 */

#define CHUNK_BYTES (128u << 10)

struct readpool_chunk {
	struct readpool *pool;
	struct readpool_chunk *next;	/* in the free list */
	uint32_t users;			/* files, and the thread that fills it;
					 * atomic */
	uint32_t used;			/* bytes */
	alignas(8) uint8_t bytes[CHUNK_BYTES];
};

struct readpool {
	pthread_mutex_t lock;
	struct readpool_chunk *free;
	uint64_t users;			/* chunks in use, and the owner */
	uint64_t most;			/* maximum number of chunks in use */
	bool closed;			/* the owner has closed the pool */
};

/* A file in a chunk. */
struct pooled_file {
	struct payload payload;
	struct readpool_chunk *chunk;
	uint32_t size, block_size;
	uint8_t content[];
};

/* Drops a user of CHUNK, which may be NULL. */
static void readpool_leave(struct readpool_chunk *chunk)
{
	struct readpool *pool;
	bool last;

	if (!chunk || __atomic_sub_fetch(&chunk->users, 1, __ATOMIC_ACQ_REL))
		return;
	pool = chunk->pool;
	pthread_mutex_lock(&pool->lock);
	if (pool->closed) {
		free(chunk);
	} else {
		chunk->next = pool->free;
		pool->free = chunk;
	}
	last = !--pool->users;
	pthread_mutex_unlock(&pool->lock);
	if (last) {
		pthread_mutex_destroy(&pool->lock);
		free(pool);
	}
}

/*
 * Finds room for a file of WANT bytes.  *CHUNK, NULL at first, belongs to one thread;
 * it is replaced if it is full.  The next call returns the same place unless `used` of
 * the chunk was increased.  NULL, without waiting, if the whole pool is in use.
 */
static struct pooled_file *readpool_place(struct readpool *pool,
					  struct readpool_chunk **chunk,
					  size_t want)
{
	struct readpool_chunk *c = *chunk;

	want += sizeof(struct pooled_file);
	if (c && CHUNK_BYTES - c->used < want) {
		readpool_leave(c);
		c = NULL;
	}
	if (!c) {
		pthread_mutex_lock(&pool->lock);
		if (pool->free) {
			c = pool->free;
			pool->free = c->next;
		} else if (pool->users <= pool->most) {
			c = malloc(sizeof(*c));
		}
		if (c)
			pool->users++;
		pthread_mutex_unlock(&pool->lock);
		if (c) {
			c->pool = pool;
			c->users = 1;
			c->used = 0;
		}
	}
	*chunk = c;
	return c ? (struct pooled_file *)(c->bytes + c->used) : NULL;
}

static int readahead_fill_payload(struct payload *payload, struct context *cx,
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

static void readahead_release_payload(struct payload *payload)
{
	readpool_leave(((struct pooled_file *)payload)->chunk);
}

static const struct payload_ops file_ops = {
	.fill = readahead_fill_payload,
	.free = readahead_release_payload,
};

/* The work of one job. */
struct batch {
	struct readahead *ra;
	const struct populate_name *names;
	size_t n;
	bool small;		/* most files here are small */
	bool young;		/* some of them changed recently */
	unsigned int left;	/* 1: not done yet */
	struct readahead_file files[BATCH];
};

struct readahead {
	struct pool *workers;
	unsigned int nworkers;
	uint32_t block_size;
	int64_t settled;	/* files changed before this are stable */
	struct readpool *pool;
	struct readpool_chunk **chunks;		/* of each worker */
	/* The directory. */
	struct sourcedir *dir;
	int dirfd;
	const struct populate_name *names;
	size_t n;		/* 0: not read ahead */
	size_t given;		/* names passed to the workers */
	struct batch batches[BATCHES];	/* used in a ring */
};

int readahead_open(struct readahead **rap, struct context *cx,
		   uint32_t block_size, int64_t now)
{
	struct readahead *ra = calloc(1, sizeof(*ra));
	uint64_t bytes;
	int err;

	*rap = NULL;
	if (!ra)
		return fail(cx, -ENOMEM, "files of the source");
	ra->settled = now - SETTLED;
	ra->block_size = block_size;
	ra->nworkers = pool_workers(cx, UINT64_MAX);
	err = pool_open(&ra->workers, cx, ra->nworkers,
			cx->threads * DEPTH_PER_WORKER + 1);
	if (!err) {
		ra->chunks = calloc(ra->nworkers, sizeof(*ra->chunks));
		ra->pool = calloc(1, sizeof(*ra->pool));
		if (!ra->pool || !ra->chunks)
			err = fail(cx, -ENOMEM, "files of the source");
	}
	if (ra->pool) {
		bytes = (uint64_t)(ra->nworkers + 1) * POOL_PER_WORKER;
		if (bytes > cx->max_memory / 4)
			bytes = cx->max_memory / 4;
		ra->pool->most = bytes / CHUNK_BYTES;
		ra->pool->users = 1;
		pthread_mutex_init(&ra->pool->lock, NULL);
	}
	if (err)
		readahead_close(ra);
	else
		*rap = ra;
	return err;
}

static bool same_time(const struct statx_timestamp *a,
		      const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Reads the file open at FD to CONTENT, and its attributes; false if it is larger. */
static bool read_whole(int fd, void *content, struct readahead_file *file)
{
	/* One more byte, to detect the end of the file. */
	ssize_t n = pread(fd, content, SMALL + 1, 0);

	file->known = !statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS,
			     &file->st);
	return file->known && S_ISREG(file->st.stx_mode) && n > 0 &&
	       n <= (ssize_t)SMALL && (uint64_t)n == file->st.stx_size;
}

/* The same, and checks that the file did not change. */
static bool read_content(struct batch *b, int fd, void *content,
			 struct readahead_file *file)
{
	const struct statx *st = &file->st;
	struct statx before;

	if (!b->young) {
		if (!read_whole(fd, content, file))
			return false;
		b->young = st->stx_mtime.tv_sec >= b->ra->settled ||
			   st->stx_ctime.tv_sec >= b->ra->settled;
		if (!b->young)
			return true;
	}
	return !statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &before) &&
	       read_whole(fd, content, file) &&
	       before.stx_size == st->stx_size &&
	       same_time(&before.stx_mtime, &st->stx_mtime) &&
	       same_time(&before.stx_ctime, &st->stx_ctime);
}

/* Reads NAME to memory if there is room; false if it was not opened. */
static bool readahead_read_file(struct batch *b, struct readpool_chunk **chunk,
				const char *name, struct readahead_file *file)
{
	struct pooled_file *f = readpool_place(b->ra->pool, chunk, SMALL + 1);
	int fd;

	if (!f)
		return false;
	fd = sourcedir_try_file(b->ra->dir, name);
	if (fd < 0)
		return false;
	if (read_content(b, fd, f->content, file)) {
		file->losses = attrlist_losses(fd);
		file->payload = &f->payload;
		payload_init(&f->payload, &file_ops);
		f->chunk = *chunk;
		f->size = (uint32_t)file->st.stx_size;
		f->block_size = b->ra->block_size;
		f->chunk->used += (uint32_t)((sizeof(*f) + f->size + 7) &
					     ~(size_t)7);
		__atomic_fetch_add(&f->chunk->users, 1, __ATOMIC_RELAXED);
	}
	close(fd);
	return true;
}

static int do_batch(struct context *cx, void *arg, unsigned int worker,
		    bool skip)
{
	struct batch *b = arg;
	size_t i;

	(void)cx;
	for (i = 0; i < b->n && !skip; i++) {
		const struct populate_name *name = &b->names[i];
		struct readahead_file *file = &b->files[i];

		if (name->type == NILFS_FT_DIR ||
		    (b->small && name->type == NILFS_FT_REG_FILE &&
		     readahead_read_file(b, &b->ra->chunks[worker], name->name, file)))
			continue;
		file->known = !statx(b->ra->dirfd, name->name,
				     AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
				     STATX_BASIC_STATS, &file->st);
	}
	return 0;
}

/* Releases the files of B, which no worker uses. */
static void readahead_forget(struct batch *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		payload_put(b->files[i].payload);
	b->n = 0;
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
	struct batch *b = &ra->batches[i / BATCH % BATCHES], *last, *next;
	struct readahead_file *f = &b->files[i % BATCH];
	size_t j, count = 0;
	bool small = true;
	int err = 0;

	*file = NULL;
	if (!ra->n)
		return 0;
	if (i && i % BATCH == 0) {
		/* Open files if most of the previous ones were small. */
		last = &ra->batches[(i / BATCH + BATCHES - 1) % BATCHES];
		for (j = 0; j < last->n; j++)
			count += last->files[j].known &&
				 last->files[j].st.stx_size <= SMALL;
		small = count > last->n / 2;
		readahead_forget(last);
	}
	while (!err && i % BATCH == 0 && ra->given < ra->n &&
	       ra->given < i + (size_t)BATCHES * BATCH) {
		next = &ra->batches[ra->given / BATCH % BATCHES];
		next->ra = ra;
		next->names = ra->names + ra->given;
		next->n = ra->n - ra->given < BATCH ? ra->n - ra->given : BATCH;
		next->small = small;
		next->young = false;
		for (j = 0; j < next->n; j++) {
			next->files[j].known = false;
			next->files[j].payload = NULL;
		}
		ra->given += next->n;
		err = pool_give(ra->workers, cx, do_batch, next, &next->left);
	}
	if (!err && i % BATCH == 0)
		err = pool_wait(ra->workers, cx, &b->left);
	if (!err && f->known)
		*file = f;
	return err;
}

void readahead_end(struct readahead *ra)
{
	size_t i;

	for (i = 0; i < BATCHES; i++) {
		pool_wait(ra->workers, NULL, &ra->batches[i].left);
		readahead_forget(&ra->batches[i]);
	}
	ra->n = 0;
}

void readahead_close(struct readahead *ra)
{
	struct readpool *pool;
	struct readpool_chunk *chunk;
	unsigned int i;
	bool last;

	if (!ra)
		return;
	for (i = 0; ra->chunks && i < ra->nworkers; i++)
		readpool_leave(ra->chunks[i]);
	free(ra->chunks);
	pool_close(ra->workers);
	pool = ra->pool;
	free(ra);
	if (!pool)
		return;
	/* Chunks in use are freed when they are released. */
	pthread_mutex_lock(&pool->lock);
	while (pool->free) {
		chunk = pool->free;
		pool->free = chunk->next;
		free(chunk);
	}
	pool->closed = true;
	last = !--pool->users;
	pthread_mutex_unlock(&pool->lock);
	if (last) {
		pthread_mutex_destroy(&pool->lock);
		free(pool);
	}
}
