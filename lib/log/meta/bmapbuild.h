/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The block map of a file whose blocks are all known: direct, or a B-tree with
 * full nodes built from the bottom up.
 *
 * metafile.h changes a map block by block instead.
 */
#ifndef NILFS2_LOG_BMAPBUILD_H
#define NILFS2_LOG_BMAPBUILD_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

/* COUNT blocks of a file with consecutive offsets and pointers. */
struct bmapbuild_run {
	uint64_t blkoff;
	uint64_t ptr;
	uint64_t count;
};

struct bmapbuild;

/* A builder of maps for blocks of BLOCK_SIZE bytes.  -ENOMEM. */
int bmapbuild_open(struct bmapbuild **bp, struct context *cx,
		   uint32_t block_size);

/* Starts the next file; memory of the previous one is reused. */
void bmapbuild_begin(struct bmapbuild *b);

/*
 * Called for a finished node: BLOCK is valid during the call.  Returns its
 * pointer in *PTR (a virtual block number).  0, or a failure, which is passed
 * on.
 */
typedef int bmapbuild_node(void *arg, struct context *cx, unsigned int level,
			   uint64_t key, const void *block, uint64_t *ptr);

/*
 * Adds RUN; offsets ascend from run to run (-EINVAL), pointers are not 0.
 * Passes full nodes to NODE.  -EUCLEAN beyond the last offset that a file can
 * have, -ENOMEM, or the failure of NODE.
 */
int bmapbuild_add(struct bmapbuild *b, struct context *cx,
		  const struct bmapbuild_run *run, bmapbuild_node *node,
		  void *arg);

/*
 * Ends the file: MAP becomes its root (i_bmap), NODES the number of node
 * blocks.  The map is direct if the kernel would use a direct map: no offset
 * above 5 (nilfs_direct_check_insert()); otherwise the root is the lowest one
 * of at most three entries, which may be those of data blocks
 * (nilfs_btree_convert_and_insert()).
 */
int bmapbuild_end(struct bmapbuild *b, struct context *cx,
		  bmapbuild_node *node, void *arg,
		  le64 map[NILFS_INODE_BMAP_SIZE], uint64_t *nodes);

void bmapbuild_close(struct bmapbuild *b);	/* NULL is accepted */

#endif
