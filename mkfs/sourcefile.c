// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of the source.
 *
 * What a file has is planned from its size; only a sparse one is opened now,
 * to see where its data is, and an empty one, to see that it is: files that
 * the kernel makes up (/proc) say they are empty and are not.
 */
#include "config.h"

#include "mkfs/sourcefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "disk/inode.h"
#include "mkfs/attrlist.h"
#include "mkfs/datarun.h"
#include "mkfs/filepayload.h"

#define SECTOR_BYTES 512

void sourcefile_fini(struct sourcefile *s)
{
	hardlinks_fini(&s->links);
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

/* These are about the file at hand; others may be about an earlier one. */
static bool is_own(int err)
{
	return err == -EMLINK || err == -ENAMETOOLONG || err == -EFBIG ||
	       err == -EINVAL;
}

int sourcefile_blame(struct context *cx, const struct sourcedir *dir,
		     const struct populate_name *name, int err)
{
	char what[FAILURE_TEXT_MAX];

	if (!is_own(err))
		return err;
	memcpy(what, cx->failure, sizeof(what));
	return sourcedir_fail(dir, cx, name ? name->name : NULL,
			      name ? name->len : 0, err, what);
}

static int failed(struct context *cx, const struct sourcedir *dir,
		  const struct populate_name *name, int err, const char *what)
{
	return sourcedir_fail(dir, cx, name->name, name->len, err, what);
}

/* A file that says it is empty. */
static int check_empty(struct sourcefile *s, struct context *cx,
		       struct sourcedir *dir, const struct populate_name *name)
{
	char byte;
	int fd, err = 0;

	fd = sourcedir_open_file(dir, cx, name->name, name->len);
	if (fd == -EACCES) {
		/* What cannot be read need not be. */
		fail_clear(cx);
		return 0;
	}
	if (fd < 0)
		return fd;
	if (read(fd, &byte, 1) > 0)
		err = failed(cx, dir, name, -ESTALE,
			     "changed while being read");
	if (!err)
		err = attrlist_tell(cx, s->p, dir, name->name, name->len, fd);
	close(fd);
	return err;
}

/* Finds the data of a sparse file: *N runs. */
static int find_data(struct sourcefile *s, struct context *cx,
		     struct sourcedir *dir, const struct populate_name *name,
		     const struct statx *st, size_t *n)
{
	int fd, err;

	fd = sourcedir_open_file(dir, cx, name->name, name->len);
	if (fd < 0)
		return fd;
	err = datarun_find(cx, fd, st->stx_size, populate_block_size(s->p),
			   &s->runs, &s->runs_room, n);
	if (!err && populate_makes_holes(s->p))
		err = datarun_make_holes(cx, fd, populate_block_size(s->p),
					 &s->runs, &s->runs_room, n);
	if (err && err != -ENOMEM && err != -EINTR)
		err = failed(cx, dir, name, err, "search for holes");
	if (!err && !*n)
		err = attrlist_tell(cx, s->p, dir, name->name, name->len, fd);
	close(fd);
	return err;
}

/* The content that was read ahead; all that is to be told of it is told. */
static int take_content(struct sourcefile *s, struct context *cx,
			const struct sourcedir *dir,
			const struct populate_name *name,
			struct payload **payload)
{
	*payload = s->ahead->payload;
	s->ahead->payload = NULL;
	return attrlist_tell_losses(cx, s->p, dir, name->name, name->len,
				    s->ahead->losses);
}

/* What reading it would tell, but for what it holds. */
static int look_into(struct sourcefile *s, struct context *cx,
		     struct sourcedir *dir, const struct populate_name *name)
{
	int fd, err;

	fd = sourcedir_open_file(dir, cx, name->name, name->len);
	if (fd < 0)
		return fd;
	err = attrlist_tell(cx, s->p, dir, name->name, name->len, fd);
	close(fd);
	return err;
}

static int place(struct sourcefile *s, struct context *cx,
		 struct sourcedir *dir, struct populate_name *name,
		 const struct statx *st, const struct newfile_run *runs,
		 size_t n, bool sparse)
{
	struct payload *payload = NULL;
	struct entry e;
	int err = 0;

	if (n && !sparse && s->ahead && s->ahead->payload) {
		err = take_content(s, cx, dir, name, &payload);
	} else if (n && populate_is_forecast(s->p)) {
		err = look_into(s, cx, dir, name);
	} else if (n) {
		payload = filepayload_make(dir, name->name, name->len, st,
					   sparse ? runs : NULL, n, s->p);
		if (!payload)
			return fail(cx, -ENOMEM, "file of the source");
	}
	if (err) {
		payload_put(payload);
		return err;
	}
	sourcefile_entry(st, &e);
	return populate_file(s->p, cx, &e, runs, n, payload, true,
			     &name->ino);
}

static int add_regular(struct sourcefile *s, struct context *cx,
		       struct sourcedir *dir, struct populate_name *name,
		       const struct statx *st)
{
	struct newfile_run all = {
		.count = div_round_up(st->stx_size,
				      populate_block_size(s->p)),
	};
	size_t n;
	int err;

	if (!st->stx_size) {
		err = check_empty(s, cx, dir, name);
		return err ? err : place(s, cx, dir, name, st, NULL, 0, false);
	}
	if (!populate_makes_holes(s->p) &&
	    st->stx_blocks >= div_round_up(st->stx_size, SECTOR_BYTES))
		return place(s, cx, dir, name, st, &all, 1, false);
	err = find_data(s, cx, dir, name, st, &n);
	return err ? err : place(s, cx, dir, name, st, s->runs, n, true);
}

static int add_special(struct sourcefile *s, struct context *cx,
		       const struct sourcedir *dir, int dirfd,
		       struct populate_name *name, const struct statx *st)
{
	struct entry e;
	ssize_t len;

	sourcefile_entry(st, &e);
	if (S_ISLNK(st->stx_mode)) {
		len = readlinkat(dirfd, name->name, s->target,
				 sizeof(s->target));
		if (len < 0)
			return failed(cx, dir, name, -errno, "readlink");
		e.target = s->target;
		e.target_len = (uint32_t)len;
	}
	return populate_special(s->p, cx, &e, &name->ino);
}

static int add_new(struct sourcefile *s, struct context *cx,
		   struct sourcedir *dir, int dirfd,
		   struct populate_name *name, const struct statx *st)
{
	int err;

	if (name->type == NILFS_FT_UNKNOWN)
		return failed(cx, dir, name, -EINVAL, "unknown type of file");
	err = sourcefile_flags(s->p, cx, dir, name, st);
	if (err)
		return err;
	if (S_ISREG(st->stx_mode))
		err = add_regular(s, cx, dir, name, st);
	else
		err = add_special(s, cx, dir, dirfd, name, st);
	return sourcefile_blame(cx, dir, name, err);
}

int sourcefile_add(struct sourcefile *s, struct context *cx,
		   struct sourcedir *dir, int dirfd,
		   struct populate_name *name, const struct statx *st)
{
	uint64_t dev = sourcedir_device(st);
	struct hardlink *link;
	int err;

	name->type = inode_dirent_type(st->stx_mode);
	if (st->stx_nlink < 2)
		return add_new(s, cx, dir, dirfd, name, st);
	link = hardlinks_find(&s->links, dev, st->stx_ino);
	if (link) {
		name->ino = link->value;
		err = populate_link(s->p, cx, name->ino);
		return sourcefile_blame(cx, dir, name, err);
	}
	err = add_new(s, cx, dir, dirfd, name, st);
	if (err)
		return err;
	return hardlinks_add(&s->links, cx, dev, st->stx_ino, name->ino);
}
