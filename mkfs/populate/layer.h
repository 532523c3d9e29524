/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of a layer merged with those of the layer below. */
#ifndef NILFS2_MKFS_LAYER_H
#define NILFS2_MKFS_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/ondisk.h"
#include "log/writer.h"
#include "mkfs/populate/dirblocks.h"
#include "mkfs/populate/populate.h"
#include "vol/symlink.h"
#include "vol/volume.h"

struct lower;

struct layer {
	struct writer *w;
	struct lower *below;	/* NULL: this is the first layer */
	struct dirblocks blocks;
	uint64_t *lost;		/* a lower inode for each lost name */
	size_t nlost, lost_room;
	const struct populate_name **over;	/* replacements of lower names */
	size_t over_room;
};

int layer_init(struct layer *l, struct context *cx, struct writer *w,
	       struct volume *below);
void layer_fini(struct layer *l);

/*
 * Looks up NAME (LEN bytes) of directory PARENT in the layer below: 1 with its inode
 * number and type (NILFS_FT_...), 0 if there is no such name.
 */
int layer_old_name(struct layer *l, struct context *cx, uint64_t parent,
		   const char *name, size_t len, uint64_t *ino, uint8_t *type);

/* The target of symbolic link INO of the layer below, of *LEN bytes, with a NUL. */
int layer_link(struct layer *l, struct context *cx, uint64_t ino,
	       char target[SYMLINK_TARGET_MAX + 1], size_t *len);

/* Reads inode INO of the layer below: 1, or 0 for a new inode. */
int layer_inode(struct layer *l, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode);

/*
 * Merges NAMES into directory INO of the layer below, or with HIDDEN replaces all
 * names of it.  A name with inode 0 is removed.  INODE, from the layer below or
 * without blocks, gets blocks, size and links; unchanged blocks are kept.
 */
int layer_directory(struct layer *l, struct context *cx, uint64_t ino,
		    uint64_t parent, bool hidden,
		    const struct populate_name *names, size_t n,
		    struct nilfs_inode *inode);

/* Records that inode INO, of this layer or of the one below, loses a name. */
int layer_lose(struct layer *l, struct context *cx, uint64_t ino);

/* Updates the links of files that lost names, and deletes files without a name. */
int layer_finish(struct layer *l, struct context *cx);

#endif
