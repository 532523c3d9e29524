/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A walk through the files below a path of one checkpoint, depth first.
 *
 * The walk ends on any volume, and continues after unreadable entries, each of which is
 * one item.
 */
#ifndef NILFS2_VOL_TREE_H
#define NILFS2_VOL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/root.h"

/* Directories below this depth are yielded and not entered. */
#define TREE_DEPTH_MAX 16384

enum tree_kind {
	TREE_ENTRY,  /* a file of any type; a directory before its entries */
	TREE_LEAVE,  /* a directory after its entries */
	TREE_BROKEN, /* unreadable: .error and the failure text */
};

struct tree_options {
	bool recursive; /* otherwise only the start and its entries */
	bool inodes;	/* read every inode, not only those needed */
	bool dots;	/* yield "." and ".." too */
};

/* Pointers are valid until the next call. */
struct tree_item {
	enum tree_kind kind;
	int error;	  /* of TREE_BROKEN */
	const char *path; /* from the root of the volume, "/a/b" */
	size_t path_len;
	size_t inner;	  /* offset of the path below the start */
	const char *name; /* the last part; "" for the root */
	size_t name_len;
	uint64_t ino;
	uint8_t type;	    /* NILFS_FT_*; the inode's where it was read */
	bool entered;	    /* a directory whose TREE_LEAVE will follow */
	unsigned int depth; /* 0: the start */
	const struct nilfs_inode *inode; /* NULL where it was not read */
};

struct tree;

/*
 * Starts at PATH of ROOT (borrowed), which is the first item.  *TREEP must be closed
 * with tree_close(), even after a failure.  Fails as dir_resolve() and root_inode()
 * for PATH.
 */
int tree_open(struct tree **treep, struct context *cx, struct root *root,
	      const char *path, const struct tree_options *options);
void tree_close(struct tree *tree); /* NULL is accepted */

/* Steps: 1 and *ITEM, 0 at the end, -ENOMEM, -EINTR. */
int tree_next(struct tree *tree, struct context *cx, struct tree_item *item);

/* Does not enter the directory that was the last item; no TREE_LEAVE follows. */
void tree_skip(struct tree *tree);

/*
 * Finds a path to INO in ROOT by a walk from the root, and sets *PATH, which the
 * caller frees; NULL after a failure.  Directories that cannot be read are skipped.
 * -ENOENT if there is no path, -ENOMEM, -EINTR.
 */
int tree_find_path(struct root *root, struct context *cx, uint64_t ino,
		   char **path);

/* False for an invalid name: empty, with NUL or '/', "." or "..". */
bool tree_name_is_sane(const char *name, size_t len);

#endif
