/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the source, except directories, and their way to populate.h. */
#ifndef NILFS2_MKFS_SOURCEFILE_H
#define NILFS2_MKFS_SOURCEFILE_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/pairtable.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/readahead.h"
#include "mkfs/source/sourcedir.h"

/* Longest target of a symbolic link that Linux returns, bytes. */
#define SOURCEFILE_TARGET_MAX 4095

/* All members except P are zero at first. */
struct sourcefile {
	struct populate *p;
	struct readahead_file *ahead;	/* the current file, or NULL */
	struct pairtable links;		/* (device, inode) -> inode of the volume */
	struct newfile_run *runs;	/* of a sparse file */
	size_t runs_room;
	char target[SOURCEFILE_TARGET_MAX + 1];
};

/*
 * Adds NAME of DIR, which is open at DIRFD and has the attributes ST, to P, or adds
 * another name of an existing file.  Sets number and type of NAME.
 */
int sourcefile_add(struct sourcefile *s, struct context *cx,
		   struct sourcedir *dir, int dirfd,
		   struct populate_name *name, const struct statx *st);

/* Makes the entry of a file with attributes ST. */
void sourcefile_entry(const struct statx *st, struct entry *e);

/* Reports to P the lost inode flags of NAME of DIR (NULL: of DIR). */
int sourcefile_flags(struct populate *p, struct context *cx,
		     const struct sourcedir *dir,
		     const struct populate_name *name,
		     const struct statx *st);

/* Returns ERR; prepends the path to the failure text if that has no path. */
int sourcefile_blame(struct context *cx, const struct sourcedir *dir,
		     const struct populate_name *name, int err);

void sourcefile_fini(struct sourcefile *s);

#endif
