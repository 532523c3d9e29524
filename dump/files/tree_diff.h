/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing a directory tree in two checkpoints, A and B, path by path: for the
   command diff, and for export --since. */
#ifndef NILFS2_DUMP_TREE_DIFF_H
#define NILFS2_DUMP_TREE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/value.h"
#include "vol/root.h"

/* The attributes in which the files at one path differ. */
enum tree_diff_what {
	TREE_DIFF_TYPE = 1 << 0,
	TREE_DIFF_INODE = 1 << 1,	/* its number */
	TREE_DIFF_MODE = 1 << 2,
	TREE_DIFF_OWNER = 1 << 3,
	TREE_DIFF_GROUP = 1 << 4,
	TREE_DIFF_LINKS = 1 << 5,
	TREE_DIFF_SIZE = 1 << 6,
	TREE_DIFF_BLOCKS = 1 << 7,
	TREE_DIFF_MTIME = 1 << 8,
	TREE_DIFF_CTIME = 1 << 9,
	TREE_DIFF_DEVICE = 1 << 10,
	TREE_DIFF_FLAGS = 1 << 11,
	TREE_DIFF_CONTENT = 1 << 12, /* also of symbolic links */
	TREE_DIFF_GENERATION = 1 << 13,	/* the number was reused */
};

/* Their names. */
extern const struct value_flag tree_diff_names[];

/* Where the differences go. */
struct tree_diff_sink {
	/*
	 * Called with the inode number of PATH in each tree, 0 where the path does
	 * not exist, and WHAT differs (enum tree_diff_what) if it exists in both.
	 * A directory comes before its content, which is left out if this returns
	 * 1.  A negative errno ends the comparison.
	 */
	int (*found)(void *arg, const char *path, size_t len, uint64_t a,
		     uint64_t b, unsigned int what);
	/* Something at PATH could not be read: the failure text says what. */
	void (*broken)(void *arg, const char *path, size_t len, int err);
	void *arg;
	/* The content of a directory that exists only in A is not reported. */
	bool whole_directories;
	/* A directory in both trees is reported before the differences below it,
	   with WHAT 0 if the directory itself is the same. */
	bool parents;
	/* Bits of WHAT that alone do not make a difference, unless the file has
	   several names. */
	unsigned int minor;
};

/*
 * Compares PATH and all paths below it in A and in B.  -ENOENT if neither has
 * PATH, -ENOMEM if the memory budget is too small, -EINTR.
 */
int tree_diff(struct context *cx, struct root *a, struct root *b,
	      const char *path, const struct tree_diff_sink *sink);

#endif
