/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two states of a directory tree side by side, by path. */
#ifndef NILFS2_DUMP_TREE_DIFF_H
#define NILFS2_DUMP_TREE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump/files/inode_diff.h"

/* Where the differences go. */
struct tree_diff_sink {
	/*
	 * PATH is A's where B is 0, B's where A is 0; else its inode numbers
	 * in both, and WHAT differs (enum inode_diff).  A directory comes before
	 * its content.  A negative errno ends the comparison.
	 */
	int (*found)(void *arg, const char *path, size_t len, uint64_t a,
		     uint64_t b, unsigned int what);
	/* Something at PATH could not be read: the failure text says what. */
	void (*broken)(void *arg, const char *path, size_t len, int err);
	void *arg;
	/* What was in a directory that is in A alone is not looked at. */
	bool whole_directories;
};

/*
 * Compares what is at PATH, and below it, in A and in B.  -ENOENT where it is
 * in neither, -ENOMEM where the memory budget is too small, -EINTR.
 */
int tree_diff(struct context *cx, struct root *a, struct root *b,
	      const char *path, const struct tree_diff_sink *sink);

#endif
