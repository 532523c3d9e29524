/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the path of a member leads, as if all members so far had been unpacked over
 * the layers below and the volume were the root directory.
 */
#ifndef NILFS2_MKFS_LAYERPATH_H
#define NILFS2_MKFS_LAYERPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "mkfs/populate/populate.h"
#include "mkfs/tar/nametree.h"
#include "mkfs/tar/tarreader.h"
#include "vol/symlink.h"

/* A place in this layer merged with the layers below. */
struct merged {
	uint32_t node;		/* of this layer, or NAMETREE_NONE */
	uint64_t ino;
	uint8_t type;		/* NILFS_FT_UNKNOWN: there is nothing */
	bool hidden;		/* lower layers are hidden there */
};

/* Used for one path after the other; real is freed by the caller. */
struct layerpath {
	const struct nametree *names;	/* of the layer; borrowed, as the next two */
	struct populate *p;
	const struct tarreader *r;	/* for messages */
	char *real;
	size_t room;			/* bytes of real */
	size_t below;			/* bytes of real that lead to a file, or 0 */
};

/*
 * Takes the first component of *PATH: advances *PATH, sets *NAME, and returns its
 * length; 0: there is no component.
 */
size_t layerpath_next(const char **path, const char **name);

/* Whether N only hides a name of lower layers. */
bool layerpath_is_gone(const struct nametree_node *n);

/* Goes from directory AT to NAME: 1, 0 if there is no such name. */
int layerpath_step(const struct layerpath *l, struct context *cx,
		   struct merged *at, const char *name, size_t len);

/* The target of the symbolic link AT. */
int layerpath_target(const struct layerpath *l, struct context *cx,
		     const struct merged *at,
		     char target[SYMLINK_TARGET_MAX + 1]);

/*
 * Follows the symbolic links in the directories of PATH: sets l->real, a path without
 * such links, l->below, and *AT, its directory, which may be missing.  -EINVAL, naming
 * the member, for more than 255 links.
 */
int layerpath_follow(struct layerpath *l, struct context *cx,
		     const char *path, struct merged *at);

#endif
