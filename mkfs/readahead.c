// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small files, read before they are planned.
 *
 * What takes time with small files is to find them, by name, twice: to plan
 * them and to read them.  Here a file is found once, by any of the workers,
 * which opens it, reads it and then looks what it is.  Content that would not
 * fit into the memory for it is left for later, as that of large files is.
 *
 * A look behind the reading tells whether a file was written meanwhile only if
 * one knows what it was like before.  A file that has not changed for long, by
 * its own time stamps, was like that before; at any other one looks before the
 * reading too.  Files of one age mostly lie together, so the batch remembers
 * that it met a young one.  The clocks of a file server and of this machine may
 * differ, thus "long" is.
 */
#include "config.h"

#include "mkfs/readahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mkfs/attrlist.h"
#include "mkfs/readpool.h"

#define SMALL 8192u		/* bytes */
#define SETTLED (10 * 60)	/* seconds without a change */
#define BATCH 32u		/* files of one job */
#define BATCHES 16u		/* before any of them is planned */
#define WINDOW (BATCH * BATCHES)
#define POOL_PER_WORKER (4u << 20)

/* What one job does. */
struct batch {
	struct readahead *ra;
	struct sourcedir *dir;
	int dirfd;
	const struct populate_name *names;
	struct readahead_file *files;
	size_t n;
	bool young;		/* some of its files changed lately */
};

struct readahead {
	struct crew *crew;
	uint32_t block_size;
	int64_t settled;	/* what changed before does not change now */
	struct readpool *pool;
	struct readpool_chunk **chunks;		/* of each worker */
	bool small;		/* files here are small, mostly */
	size_t n;
	struct readahead_file files[WINDOW];
	struct batch batches[BATCHES];
};

static uint64_t sensible_pool(const struct context *cx, unsigned int workers)
{
	uint64_t bytes = (uint64_t)(workers + 1) * POOL_PER_WORKER;

	return bytes < cx->max_memory / 4 ? bytes : cx->max_memory / 4;
}

int readahead_open(struct readahead **rap, struct context *cx,
		   struct crew *crew, uint32_t block_size, int64_t now)
{
	struct readahead *ra = calloc(1, sizeof(*ra));
	unsigned int workers = crew_workers(crew);

	*rap = NULL;
	if (!ra)
		return fail(cx, -ENOMEM, "files of the source");
	ra->settled = now - SETTLED;
	ra->crew = crew;
	ra->block_size = block_size;
	ra->pool = readpool_open(sensible_pool(cx, workers));
	ra->chunks = calloc(workers, sizeof(*ra->chunks));
	if (!ra->pool || !ra->chunks) {
		readahead_close(ra);
		return fail(cx, -ENOMEM, "files of the source");
	}
	*rap = ra;
	return 0;
}

static int look(int fd, struct statx *st)
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

	file->known = !look(fd, &file->st);
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
	return !look(fd, &before) && read_whole(fd, content, file) &&
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
	fd = sourcedir_try_file(b->dir, name);
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
	if (b->ra->small && name->type == NILFS_FT_REG_FILE &&
	    read_file(b, chunk, name->name, file))
		return;
	file->known = !statx(b->dirfd, name->name,
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

static void forget(struct readahead *ra)
{
	size_t i;

	for (i = 0; i < ra->n; i++)
		payload_put(ra->files[i].payload);
	ra->n = 0;
}

/* Whether it was worth the while to open all of these. */
static bool are_small(const struct readahead *ra)
{
	size_t i, small = 0;

	for (i = 0; i < ra->n; i++)
		small += ra->files[i].known &&
			 ra->files[i].st.stx_size <= SMALL;
	return small > ra->n / 2;
}

/* Cuts the first N of NAMES into jobs; returns how many. */
static unsigned int cut(struct readahead *ra, struct sourcedir *dir, int dirfd,
			const struct populate_name *names, size_t n)
{
	unsigned int batches = 0;
	size_t i;

	for (i = 0; i < n; i += BATCH)
		ra->batches[batches++] = (struct batch){
			.ra = ra,
			.dir = dir,
			.dirfd = dirfd,
			.names = names + i,
			.files = ra->files + i,
			.n = n - i < BATCH ? n - i : BATCH,
		};
	return batches;
}

static int read_window(struct readahead *ra, struct context *cx,
		       struct sourcedir *dir, int dirfd,
		       const struct populate_name *names, size_t n)
{
	size_t i;
	int err;

	forget(ra);
	for (i = 0; i < n; i++) {
		ra->files[i].known = false;
		ra->files[i].payload = NULL;
	}
	ra->n = n;
	err = crew_share(ra->crew, cx, do_batch, ra->batches,
			 sizeof(*ra->batches), cut(ra, dir, dirfd, names, n));
	ra->small = are_small(ra);
	return err;
}

int readahead_look(struct readahead *ra, struct context *cx,
		   struct sourcedir *dir, int dirfd,
		   const struct populate_name *names, size_t n, size_t i,
		   struct readahead_file **file)
{
	int err = 0;

	*file = NULL;
	if (n < READAHEAD_LEAST)
		return 0;
	if (!i)
		ra->small = true;
	if (i % WINDOW == 0)
		err = read_window(ra, cx, dir, dirfd, names + i,
				  n - i < WINDOW ? n - i : WINDOW);
	if (!err && ra->files[i % WINDOW].known)
		*file = &ra->files[i % WINDOW];
	return err;
}

void readahead_close(struct readahead *ra)
{
	unsigned int i;

	if (!ra)
		return;
	forget(ra);
	for (i = 0; ra->chunks && i < crew_workers(ra->crew); i++)
		readpool_leave(ra->chunks[i]);
	free(ra->chunks);
	readpool_close(ra->pool);
	free(ra);
}
