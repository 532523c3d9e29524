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
#include "vol/volume.h"

struct lower;

struct layer {
	struct writer *w;
	struct lower *below;	/* NULL: this is the first layer */
	struct dirblocks blocks;
	uint64_t *lost;		/* an inode of below for each lost name */
	size_t nlost, lost_room;
	const struct populate_name **over;	/* by name of below, or NULL */
	size_t over_room;
};

int layer_init(struct layer *l, struct context *cx, struct writer *w,
	       struct volume *below);
void layer_fini(struct layer *l);

/*
 * The inode number and type (NILFS_FT_...) of NAME, LEN bytes, of directory
 * PARENT in the layer below: 1, 0 if there is none.
 */
int layer_old_name(struct layer *l, struct context *cx, uint64_t parent,
		   const char *name, size_t len, uint64_t *ino, uint8_t *type);

/* Inode INO as it was below: 1, or 0 for a new one. */
int layer_inode(struct layer *l, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode);

/*
 * Directory INO has NAMES over those it had below, or with HIDDEN instead of
 * them; a name without an inode is gone.  INODE, as below or
 * without blocks, gets blocks, size and links; blocks that would be as they
 * were are kept.
 */
int layer_directory(struct layer *l, struct context *cx, uint64_t ino,
		    uint64_t parent, bool hidden,
		    const struct populate_name *names, size_t n,
		    struct nilfs_inode *inode);

/* Inode INO, of this layer or of the one below, loses a name. */
int layer_lose(struct layer *l, struct context *cx, uint64_t ino);

/* Files that lost names lose links, or end. */
int layer_finish(struct layer *l, struct context *cx);

#endif
