/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two states of a directory tree side by side, by path. */
#ifndef NILFS2_DUMP_TREE_DIFF_H
#define NILFS2_DUMP_TREE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/value.h"
#include "vol/root.h"

/* What differs of two files. */
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
	 * PATH is A's where B is 0, B's where A is 0; else its inode numbers
	 * in both, and WHAT differs (enum tree_diff_what).  A directory comes
	 * before its content, which is left out if this returns 1.  A negative
	 * errno ends the comparison.
	 */
	int (*found)(void *arg, const char *path, size_t len, uint64_t a,
		     uint64_t b, unsigned int what);
	/* Something at PATH could not be read: the failure text says what. */
	void (*broken)(void *arg, const char *path, size_t len, int err);
	void *arg;
	/* What was in a directory that is in A alone is not looked at. */
	bool whole_directories;
	/* A directory that is in both comes before what differs in it, with WHAT 0
	   if it is the same. */
	bool parents;
	/* What is no difference by itself, but of files with several names. */
	unsigned int minor;
};

/*
 * Compares what is at PATH, and below it, in A and in B.  -ENOENT where it is
 * in neither, -ENOMEM where the memory budget is too small, -EINTR.
 */
int tree_diff(struct context *cx, struct root *a, struct root *b,
	      const char *path, const struct tree_diff_sink *sink);

#endif
