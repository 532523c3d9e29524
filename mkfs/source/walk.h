/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory tree as the source of a layer. */
#ifndef NILFS2_MKFS_WALK_H
#define NILFS2_MKFS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "mkfs/populate/populate.h"

enum walk_order {
	WALK_NAME,		/* by the bytes of the names; the default */
	WALK_NONE,		/* the order of the directory, which differs
				   between machines */
	WALK_INODE,		/* by inode number: fastest on a cold disk */
	WALK_SIZE,		/* small files first */
};

/* A file that is excluded wherever it is found: the image itself. */
struct walk_skip {
	uint64_t dev, ino;	/* as st_dev, st_ino */
};

struct walk_options {
	const struct entry_rules *rules;	/* borrowed; NULL: none */
	enum walk_order order;
	bool one_file_system;	/* a mount point is an empty directory */
	const struct walk_skip *skip;	/* borrowed; NULL: none */
};

/* Notes for the user. */
struct walk_notes {
	uint64_t skipped;	/* names that were skipped because of `skip` */
};

/*
 * Adds all files below the directory PATH to P, numbered directory by directory: first
 * all names of one, in order, then the contents of its subdirectories.  NOTES may be
 * NULL.
 *
 * Files are read while later ones are examined, until the writer of P is committed.  A
 * file that changes, shrinks or vanishes in that time is an error that names it
 * (-ESTALE, or the error of the system call), here or at the commit.  A name of more
 * than 255 bytes is an error, and so is a directory that contains itself by a bind
 * mount (-ELOOP).  Sparse files keep their holes.  Lost attributes are counted: extended
 * attributes of regular files and directories (symbolic links and special files can
 * have only some that need root), immutable and append-only flags.  Security labels
 * (security.selinux and the like) belong to the running system and are not counted.
 */
int walk_run(struct context *cx, const char *path,
	     const struct walk_options *options, struct populate *p,
	     struct walk_notes *notes);

#endif
