/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two states of a volume compared: the blocks in which two block maps differ.
 *
 * The maps must be of one volume.  The same pointer at two checkpoints is then the
 * same block, and is not read.  Inodes are compared by inodediff.h.
 */
#ifndef NILFS2_VOL_MAPDIFF_H
#define NILFS2_VOL_MAPDIFF_H

#include <stdint.h>

#include "base/context.h"
#include "vol/blockmap.h"

/* Block KEY of the file: its pointer in each map, 0 if none. */
struct mapdiff_item {
	uint64_t key;
	unsigned int level;	/* 0 data, else that of the node */
	uint64_t a, b;
};

/* Returns 0; any other value ends the comparison, which returns it. */
typedef int mapdiff_visit(void *arg, struct context *cx,
			  const struct mapdiff_item *item);

/*
 * Calls VISIT for each data block that only one of the maps A and B has, or whose
 * pointers differ, keys ascending; with NODES for nodes, too, each before the blocks
 * below it.  NULL is a map without blocks.  Nodes that both maps share are not read.
 * -EUCLEAN, -EIO if a map is damaged; or the return value of VISIT.
 */
int mapdiff_walk(struct context *cx, const struct blockmap *a,
		 const struct blockmap *b, bool nodes, mapdiff_visit *visit,
		 void *arg);

/* The same without nodes. */
int mapdiff_run(struct context *cx, const struct blockmap *a,
		const struct blockmap *b, mapdiff_visit *visit, void *arg);

/*
 * The same for the versions A and B of file INO of VOL.  NULL is a version without
 * blocks.  VISIT can borrow the blocks by any map of VOL but that of the DAT.
 */
int mapdiff_run_file(struct context *cx, struct volume *vol, uint64_t ino,
		     const struct nilfs_inode *a, const struct nilfs_inode *b,
		     mapdiff_visit *visit, void *arg);

#endif
