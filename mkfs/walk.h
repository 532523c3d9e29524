/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory tree as the source of a layer. */
#ifndef NILFS2_MKFS_WALK_H
#define NILFS2_MKFS_WALK_H

#include <stdbool.h>

#include "mkfs/populate.h"

enum walk_order {
	WALK_NAME,		/* by the bytes of the names; the default */
	WALK_NONE,		/* as the directories are read: not the same
				   on any machine */
	WALK_INODE,		/* by inode number: fastest on a cold disk */
	WALK_SIZE,		/* small files first */
};

struct walk_options {
	const struct entry_rules *rules;
	enum walk_order order;
	bool one_file_system;
};

/*
 * Puts all below the directory PATH into P.  A file that changes, shrinks or
 * vanishes under way is an error that names it.
 */
int walk_run(struct context *cx, const char *path,
	     const struct walk_options *options, struct populate *p);

#endif
