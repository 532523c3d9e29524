// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Content of files of the source.
 *
 * A file may change between the time it is planned and the time it is read,
 * which is a failure, as its blocks are already placed.  The check is made
 * after reading, so that it also detects writes meanwhile.
 *
 * A file in one chunk takes four system calls (open, read, fstat, close) and
 * one for extended attributes; a larger one as many for each chunk.  No
 * descriptor is kept from one chunk to the next.
 */
#include "config.h"

#include "mkfs/source/filepayload.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mkfs/source/attrlist.h"

/* A run of data, and the block of the payload that is its first. */
struct data {
	uint64_t at, blkoff, count;
};

struct filepayload {
	struct payload payload;
	struct sourcedir *dir;
	struct populate *p;
	uint64_t ino, size;
	struct statx_timestamp mtime, ctime;
	uint32_t block_size;
	struct data *runs;	/* NULL: no holes */
	size_t nruns;
	uint8_t len;
	char name[];
};

static int changed(const struct filepayload *f, struct context *cx)
{
	return sourcedir_fail(f->dir, cx, f->name, f->len, -ESTALE,
			      "changed while being read");
}

/*
 * Reads COUNT blocks from block BLKOFF of the file on.  Reads past the expected
 * end of the file, to check that it ends there.
 */
static int read_run(const struct filepayload *f, struct context *cx, int fd,
		    uint64_t blkoff, uint64_t count, char *buf)
{
	size_t bytes = (size_t)count * f->block_size, done = 0, want = bytes;
	uint64_t from = blkoff * f->block_size;
	ssize_t n;

	if (f->size - from < want)
		want = (size_t)(f->size - from);
	while (done < want) {
		n = pread(fd, buf + done, bytes - done, (off_t)(from + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sourcedir_fail(f->dir, cx, f->name, f->len,
					      -errno, "read");
		if (!n)
			break;
		done += (size_t)n;
	}
	if (done != want)
		return changed(f, cx);
	memset(buf + done, 0, bytes - done);
	return 0;
}

/* The run that contains block AT of the payload. */
static const struct data *find_run(const struct filepayload *f, uint64_t at)
{
	size_t low = 0, high = f->nruns, mid;

	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (f->runs[mid].at <= at)
			low = mid;
		else
			high = mid;
	}
	return &f->runs[low];
}

static int read_blocks(const struct filepayload *f, struct context *cx,
		       int fd, uint64_t at, uint64_t count, char *buf)
{
	const struct data *run;
	uint64_t n;
	int err;

	if (!f->runs)
		return read_run(f, cx, fd, at, count, buf);
	for (run = find_run(f, at); count; run++) {
		n = run->at + run->count - at;
		if (n > count)
			n = count;
		err = read_run(f, cx, fd, run->blkoff + at - run->at, n, buf);
		if (err)
			return err;
		at += n;
		count -= n;
		buf += n * f->block_size;
	}
	return 0;
}

static bool is_time(const struct statx_timestamp *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == (uint32_t)b->tv_nsec;
}

/* The time of content can be put back, that of the inode cannot. */
static bool is_as_planned(const struct filepayload *f, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_ino == f->ino &&
	       (uint64_t)st.st_size == f->size &&
	       is_time(&f->mtime, &st.st_mtim) &&
	       is_time(&f->ctime, &st.st_ctim);
}

static int fill(struct payload *payload, struct context *cx, uint64_t at,
		uint32_t count, void *buf)
{
	const struct filepayload *f = (struct filepayload *)payload;
	int fd, err;

	fd = sourcedir_open_file(f->dir, cx, f->name, f->len);
	if (fd < 0)
		return fd;
	err = read_blocks(f, cx, fd, at, count, buf);
	if (!is_as_planned(f, fd))
		err = changed(f, cx);
	if (!err && !at)
		err = attrlist_tell(cx, f->p, f->dir, f->name, f->len, fd);
	close(fd);
	return err;
}

static void release(struct payload *payload)
{
	struct filepayload *f = (struct filepayload *)payload;

	sourcedir_put(f->dir);
	free(f->runs);
	free(f);
}

static const struct payload_ops filepayload_ops = {
	.fill = fill,
	.free = release,
};

static int set_runs(struct filepayload *f, const struct newfile_run *runs,
		    size_t nruns)
{
	uint64_t at = 0;
	size_t i;

	f->runs = calloc(nruns, sizeof(*f->runs));
	if (!f->runs)
		return -ENOMEM;
	for (i = 0; i < nruns; i++) {
		f->runs[i] = (struct data){ at, runs[i].blkoff,
					    runs[i].count };
		at += runs[i].count;
	}
	f->nruns = nruns;
	return 0;
}

struct payload *filepayload_make(struct sourcedir *dir, const char *name,
				 size_t len, const struct statx *st,
				 const struct newfile_run *runs, size_t nruns,
				 struct populate *p)
{
	struct filepayload *f = calloc(1, sizeof(*f) + len + 1);

	if (!f)
		return NULL;
	if (runs && set_runs(f, runs, nruns)) {
		free(f);
		return NULL;
	}
	payload_init(&f->payload, &filepayload_ops);
	f->dir = sourcedir_hold(dir);
	f->p = p;
	f->ino = st->stx_ino;
	f->size = st->stx_size;
	f->mtime = st->stx_mtime;
	f->ctime = st->stx_ctime;
	f->block_size = populate_block_size(p);
	f->len = (uint8_t)len;
	memcpy(f->name, name, len);
	return &f->payload;
}
