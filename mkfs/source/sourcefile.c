// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of the source.
 *
 * A file is planned from its size.  Only two kinds are opened for that: a sparse file,
 * to find its data, and an empty one, to check that it is empty, since files generated
 * by the kernel (/proc) have size 0 but content.
 */
#include "config.h"

#include "mkfs/source/sourcefile.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "disk/inode.h"
#include "log/newfile.h"
#include "log/write/payload.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/attrlist.h"
#include "mkfs/source/datarun.h"
#include "mkfs/source/sourcedir.h"

#define SECTOR_BYTES 512

/*
 * Content of files of the source.
 *
 * If a file changes between planning and reading, that is a failure, since its blocks
 * are already placed.  The check is made after reading, so that it also detects
 * concurrent writes.
 *
 * A file in one chunk takes four system calls (open, read, fstat, close) and one for
 * extended attributes; a larger file takes as many for each chunk.  No descriptor is
 * kept from one chunk to the next.
 */

/* A run of data, and the index of its first block in the payload. */
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
 * Reads COUNT blocks from block BLKOFF of the file on.  Reads beyond the expected end
 * of the file, to check that it ends there.
 */
static int sourcefile_read_run(const struct filepayload *f, struct context *cx, int fd,
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

static int sourcefile_read_blocks(const struct filepayload *f, struct context *cx,
				  int fd, uint64_t at, uint64_t count, char *buf)
{
	size_t low = 0, high = f->nruns, mid;
	const struct data *run;
	uint64_t n;
	int err;

	if (!f->runs)
		return sourcefile_read_run(f, cx, fd, at, count, buf);
	/* The run that contains block AT of the payload. */
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (f->runs[mid].at <= at)
			low = mid;
		else
			high = mid;
	}
	for (run = &f->runs[low]; count; run++) {
		n = run->at + run->count - at;
		if (n > count)
			n = count;
		err = sourcefile_read_run(f, cx, fd, run->blkoff + at - run->at, n, buf);
		if (err)
			return err;
		at += n;
		count -= n;
		buf += n * f->block_size;
	}
	return 0;
}

static bool sourcefile_is_time(const struct statx_timestamp *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == (uint32_t)b->tv_nsec;
}

static int sourcefile_fill_payload(struct payload *payload, struct context *cx,
				   uint64_t at, uint32_t count, void *buf)
{
	const struct filepayload *f = (struct filepayload *)payload;
	struct stat st;
	int fd, err;

	fd = sourcedir_open_file(f->dir, cx, f->name, f->len);
	if (fd < 0)
		return fd;
	err = sourcefile_read_blocks(f, cx, fd, at, count, buf);
	/* mtime can be set back by a program, ctime cannot. */
	if (fstat(fd, &st) || st.st_ino != f->ino ||
	    (uint64_t)st.st_size != f->size ||
	    !sourcefile_is_time(&f->mtime, &st.st_mtim) ||
	    !sourcefile_is_time(&f->ctime, &st.st_ctim))
		err = changed(f, cx);
	if (!err && !at)
		err = attrlist_report(cx, f->p, f->dir, f->name, f->len,
				      attrlist_losses(fd));
	close(fd);
	return err;
}

static void sourcefile_release_payload(struct payload *payload)
{
	struct filepayload *f = (struct filepayload *)payload;

	sourcedir_put(f->dir);
	free(f->runs);
	free(f);
}

static const struct payload_ops filepayload_ops = {
	.fill = sourcefile_fill_payload,
	.free = sourcefile_release_payload,
};

/*
 * Makes the payload of file NAME (LEN bytes) in DIR (held until the file is read),
 * whose attributes are ST: the blocks in RUNS, NULL for all.  Filling fails with
 * -ESTALE and the path if the file was replaced or written to since.  Lost attributes
 * are reported to P.
 */
static struct payload *filepayload_make(struct sourcedir *dir, const char *name,
					size_t len, const struct statx *st,
					const struct newfile_run *runs,
					size_t nruns, struct populate *p)
{
	struct filepayload *f = calloc(1, sizeof(*f) + len + 1);
	uint64_t at = 0;
	size_t i;

	if (!f)
		return NULL;
	if (runs) {
		f->runs = calloc(nruns, sizeof(*f->runs));
		if (!f->runs) {
			free(f);
			return NULL;
		}
		for (i = 0; i < nruns; i++) {
			f->runs[i] = (struct data){ at, runs[i].blkoff,
						    runs[i].count };
			at += runs[i].count;
		}
		f->nruns = nruns;
	}
	payload_init(&f->payload, &filepayload_ops);
	f->dir = sourcedir_hold(dir);
	f->p = p;
	f->ino = st->stx_ino;
	f->size = st->stx_size;
	f->mtime = st->stx_mtime;
	f->ctime = st->stx_ctime;
	f->block_size = populate_needs(p)->block_size;
	f->len = (uint8_t)len;
	memcpy(f->name, name, len);
	return &f->payload;
}

void sourcefile_fini(struct sourcefile *s)
{
	pairtable_fini(&s->links);
	free(s->runs);
}

void sourcefile_entry(const struct statx *st, struct entry *e)
{
	*e = (struct entry){
		.mode = st->stx_mode,
		.uid = st->stx_uid,
		.gid = st->stx_gid,
		.mtime = st->stx_mtime.tv_sec,
		.mtime_nsec = st->stx_mtime.tv_nsec,
		.major = st->stx_rdev_major,
		.minor = st->stx_rdev_minor,
		.size = st->stx_size,
	};
}

int sourcefile_flags(struct populate *p, struct context *cx,
		     const struct sourcedir *dir,
		     const struct populate_name *name, const struct statx *st)
{
	char path[SOURCEDIR_PATH_MAX];

	if (!(st->stx_attributes &
	      (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)))
		return 0;
	sourcedir_path(dir, name ? name->name : NULL, name ? name->len : 0,
		       path);
	return populate_loss(p, cx, path, ENTRY_FLAGS);
}

int sourcefile_blame(struct context *cx, const struct sourcedir *dir,
		     const struct populate_name *name, int err)
{
	char what[FAILURE_TEXT_MAX];

	/* Other failures may belong to an earlier file. */
	if (err != -EMLINK && err != -ENAMETOOLONG && err != -EFBIG &&
	    err != -EINVAL)
		return err;
	memcpy(what, cx->failure, sizeof(what));
	return sourcedir_fail(dir, cx, name ? name->name : NULL,
			      name ? name->len : 0, err, what);
}

static int add_regular(struct sourcefile *s, struct context *cx,
		       struct sourcedir *dir, struct populate_name *name,
		       const struct statx *st)
{
	const struct populate_needs *needs = populate_needs(s->p);
	struct newfile_run all = {
		.count = div_round_up(st->stx_size, needs->block_size),
	};
	const struct newfile_run *runs = &all;
	size_t n = st->stx_size > 0;
	bool sparse = n && (needs->holes ||
			    st->stx_blocks < div_round_up(st->stx_size,
							  SECTOR_BYTES));
	struct payload *payload = NULL;
	struct entry e;
	char byte;
	int fd, err = 0;

	if (n && !sparse && s->ahead && s->ahead->payload) {
		/* The content was read ahead. */
		payload = s->ahead->payload;
		s->ahead->payload = NULL;
		err = attrlist_report(cx, s->p, dir, name->name, name->len,
				      s->ahead->losses);
	} else if (!n || sparse || needs->forecast) {
		fd = sourcedir_open_file(dir, cx, name->name, name->len);
		if (fd < 0 && (fd != -EACCES || n))
			return fd;
		/* An empty file need not be readable. */
		if (fd < 0)
			fail_clear(cx);
		else if (!n && read(fd, &byte, 1) > 0)
			err = sourcedir_fail(dir, cx, name->name, name->len,
					     -ESTALE, "changed while being read");
		if (sparse) {
			err = datarun_find(cx, fd, st->stx_size,
					   needs->block_size, &s->runs,
					   &s->runs_room, &n);
			if (!err && needs->holes)
				err = datarun_make_holes(cx, fd,
							 needs->block_size,
							 &s->runs,
							 &s->runs_room, &n);
			if (err && err != -ENOMEM && err != -EINTR)
				err = sourcedir_fail(dir, cx, name->name,
						     name->len, err,
						     "cannot search for holes");
			runs = s->runs;
		}
		/* Attributes of files that are read later are reported then. */
		if (!err && fd >= 0 && (!n || needs->forecast))
			err = attrlist_report(cx, s->p, dir, name->name,
					      name->len, attrlist_losses(fd));
		if (fd >= 0)
			close(fd);
	}
	if (!err && n && !payload && !needs->forecast) {
		payload = filepayload_make(dir, name->name, name->len, st,
					   sparse ? runs : NULL, n, s->p);
		if (!payload)
			err = fail(cx, -ENOMEM, "file of the source");
	}
	if (err) {
		payload_put(payload);
		return err;
	}
	sourcefile_entry(st, &e);
	err = populate_file(s->p, cx, &e, runs, n, payload, true, &name->ino);
	return sourcefile_blame(cx, dir, name, err);
}

int sourcefile_add(struct sourcefile *s, struct context *cx,
		   struct sourcedir *dir, int dirfd,
		   struct populate_name *name, const struct statx *st)
{
	uint64_t dev = sourcedir_device(st);
	struct pairtable_entry *link = NULL;
	struct entry e;
	ssize_t len;
	int err;

	name->type = inode_dirent_type(st->stx_mode);
	if (st->stx_nlink > 1)
		link = pairtable_find(&s->links, dev, st->stx_ino);
	if (link) {
		name->ino = link->value;
		err = populate_link(s->p, cx, name->ino);
		return sourcefile_blame(cx, dir, name, err);
	}
	if (name->type == NILFS_FT_UNKNOWN)
		return sourcedir_fail(dir, cx, name->name, name->len, -EINVAL,
				      "unknown type of file");
	err = sourcefile_flags(s->p, cx, dir, name, st);
	if (err)
		return err;
	if (S_ISREG(st->stx_mode)) {
		err = add_regular(s, cx, dir, name, st);
	} else {
		sourcefile_entry(st, &e);
		if (S_ISLNK(st->stx_mode)) {
			len = readlinkat(dirfd, name->name, s->target,
					 sizeof(s->target));
			if (len < 0)
				return sourcedir_fail(dir, cx, name->name,
						      name->len, -errno,
						      "readlink");
			e.target = s->target;
			e.target_len = (uint32_t)len;
		}
		err = populate_special(s->p, cx, &e, &name->ino);
		err = sourcefile_blame(cx, dir, name, err);
	}
	if (err || st->stx_nlink < 2)
		return err;
	return pairtable_add(&s->links, cx, dev, st->stx_ino, name->ino);
}
