/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory tree as the source of a layer. */
#ifndef NILFS2_MKFS_WALK_H
#define NILFS2_MKFS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mkfs/populate/populate.h"

enum walk_order {
	WALK_NAME,		/* by the bytes of the names; the default */
	WALK_NONE,		/* as the directories are read: not the same
				   on any machine */
	WALK_INODE,		/* by inode number: fastest on a cold disk */
	WALK_SIZE,		/* small files first */
};

/* A file that is left out wherever it is met: the image itself. */
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
	uint64_t skipped;	/* names of files of `skip` */
};

/*
 * Puts all below the directory PATH into P, numbered directory by directory:
 * first all names of one, in order, then what is in its subdirectories.  NOTES
 * may be NULL.
 *
 * Files are read while later ones are looked at, until the writer of P is
 * committed.  One that changes, shrinks or vanishes meanwhile is an error that
 * names it (-ESTALE, or what the kernel said), here or at the commit; so are a
 * name of more than 255 bytes and a directory that contains itself by a bind
 * mount (-ELOOP).  Sparse files keep their holes.  What NILFS2 cannot hold is
 * counted: attributes of regular files and directories (symbolic links and
 * special files can have only some that need root), immutable and append-only
 * flags.  Security labels (security.selinux and the like) belong to the
 * running system and are not counted.
 */
int walk_run(struct context *cx, const char *path,
	     const struct walk_options *options, struct populate *p,
	     struct walk_notes *notes);

#endif
