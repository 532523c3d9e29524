/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inode given on a command line, of any file including metadata. */
#ifndef NILFS2_DUMP_SUBJECT_H
#define NILFS2_DUMP_SUBJECT_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/file.h"
#include "vol/root.h"

struct subject {
	uint64_t ino;
	bool allocated;		/* in use, by the bitmap of the ifile */
	struct nilfs_inode inode;
};

/*
 * Finds the inode that TEXT names: a path ("/..." or "<INO>/..."), "dat", "cpfile",
 * "sufile", "ifile", or a number.  Accepts a free inode if the ifile has a
 * block for it.  -EINVAL for a text that is none of these, -ENOENT, -ENOTDIR,
 * -EUCLEAN, -EIO.
 */
int subject_find(struct subject *s, struct context *cx, struct root *root,
		 const char *text);

/* The same for a number. */
int subject_read(struct subject *s, struct context *cx, struct root *root,
		 uint64_t ino);

/* Prepares its block map; fails as file_init(). */
int subject_file(const struct subject *s, struct context *cx,
		 struct root *root, struct file *file);

#endif
