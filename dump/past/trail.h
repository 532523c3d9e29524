/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path that is looked up in one checkpoint after another. */
#ifndef NILFS2_DUMP_TRAIL_H
#define NILFS2_DUMP_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/root.h"

/* A directory on the path, as it was when it was read last. */
struct trail_step {
	bool known;
	uint64_t dir;
	struct nilfs_inode inode;
	uint64_t child; /* what the next name leads to; 0: nothing */
	size_t name;	/* offset of it in the path */
	size_t len;
};

/* All zero is the path of the root directory. */
struct trail {
	char *path; /* "/a/b", with a NUL after it; NULL: the root */
	size_t len, room;
	struct trail_step *steps;
	size_t count, steps_room;
	bool climbs; /* there is a ".." in it */
};

/*
 * Makes T, which is all zero, the path of LEN bytes at PATH, with single
 * slashes and without ".".  -ENOMEM past the memory budget.  T is freed with trail_fini(),
 * after a failure too.
 */
int trail_set(struct trail *t, struct context *cx, const char *path,
	      size_t len);
void trail_fini(struct trail *t);

/*
 * The inode number at the path in ROOT.  A directory is read only if it does
 * not have the blocks that it had the last time.  -ENOENT, -ENOTDIR; -EUCLEAN,
 * -EIO once for a directory that cannot be read whole, then -ENOENT.
 */
int trail_follow(struct trail *t, struct context *cx, struct root *root,
		 uint64_t *ino);

/*
 * The inode number of NAME (LEN bytes) in DIR, also where other blocks of it are
 * broken.  -ENOENT, -EUCLEAN where it may be in a broken one, -EIO.
 */
int trail_lookup(struct file *dir, struct context *cx, const char *name,
		 size_t len, uint64_t *ino);

/* The path, "/" of the root. */
static inline const char *trail_path(const struct trail *t)
{
	return t->len ? t->path : "/";
}

#endif
