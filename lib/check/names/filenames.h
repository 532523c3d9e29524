/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Following files through many checkpoints: the inode at a path (struct trail), and
 * all names of one inode (struct filenames).  For history, lost names, and the names
 * of damaged files.
 */
#ifndef NILFS2_CHECK_FILENAMES_H
#define NILFS2_CHECK_FILENAMES_H

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/root.h"

/* A directory on the path, as of the last checkpoint in which it was read. */
struct trail_step {
	bool known;
	uint64_t dir;
	struct nilfs_inode inode;
	uint64_t child; /* what the next name leads to; 0: nothing */
	size_t name;	/* offset of it in the path */
	size_t len;
};

/* A path that is looked up in one checkpoint after another; all zero: "/". */
struct trail {
	char *path; /* "/a/b", with a NUL after it; NULL: the root */
	size_t len, room;
	struct trail_step *steps;
	size_t count, steps_room;
	bool climbs; /* there is a ".." in it */
};

/*
 * Makes T, which is all zero, the path of LEN bytes at PATH, with single
 * slashes and without ".".  -ENOMEM past the memory budget.  T is freed with
 * filenames_free_trail(), after a failure too.
 */
int filenames_set_trail(struct trail *t, struct context *cx, const char *path,
			size_t len);
void filenames_free_trail(struct trail *t);

/*
 * Sets *INO to the inode number at the path in ROOT.  A directory is read only if its
 * blocks differ from those of the last lookup.  -ENOENT, -ENOTDIR; -EUCLEAN, -EIO once
 * for a directory that cannot be read completely, then -ENOENT.
 */
int filenames_follow(struct trail *t, struct context *cx, struct root *root,
		     uint64_t *ino);

/* The path, "/" of the root. */
static inline const char *trail_path(const struct trail *t)
{
	return t->len ? t->path : "/";
}

struct filename {
	uint64_t dir; /* that has the entry; 0: not known yet */
	struct trail trail;
};

/* All zero but for INO: none is known. */
struct filenames {
	uint64_t ino;
	struct filename *items;
	size_t count, room;
	struct root before; /* no volume: none was searched */
	bool changed;	    /* set with each change; the caller clears it */
};

/*
 * Updates the names of the file, which is INODE in ROOT; those of an earlier
 * checkpoint are only verified, and directories that have not changed since
 * are not searched.  -EUCLEAN, -EIO where directories cannot be read, then
 * there may be more names; -ENOMEM, -EINTR.
 */
int filenames_update(struct filenames *f, struct context *cx,
		     struct root *root, const struct nilfs_inode *inode);

/* Adds the path of LEN bytes at PATH, which leads to the file. */
int filenames_add(struct filenames *f, struct context *cx, const char *path,
		  size_t len);

void filenames_fini(struct filenames *f);

/*
 * The path of entry NAME (LEN bytes) of directory DIR in ROOT, in *PATH, which
 * has *ROOM and is freed by the caller, by way of the entries "..".  -ENOENT
 * where no path leads there, -ELOOP, -EUCLEAN, -EIO, -ENOMEM.
 */
int filenames_path(struct root *root, struct context *cx, uint64_t dir,
		   const char *name, size_t len, char **path, size_t *room,
		   size_t *path_len);

#endif
