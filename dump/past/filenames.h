/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All names of a file, from one checkpoint to the next. */
#ifndef NILFS2_DUMP_FILENAMES_H
#define NILFS2_DUMP_FILENAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "dump/past/trail.h"
#include "vol/root.h"

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
