/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rebuilding the map of a file: some blocks are kept, some get new content,
 * some are dropped.
 *
 * This changes existing files: roll-forward, salvage, entries of a directory.
 * All nodes are new; kept data is not moved and keeps its virtual block
 * numbers.
 */
#ifndef NILFS2_LOG_REMAP_H
#define NILFS2_LOG_REMAP_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "log/writer.h"

struct remap;

/*
 * Begins a map for inode INO of the checkpoint of W.  W may be used for other
 * files until remap_close().  -ENOMEM.
 */
int remap_open(struct remap **rp, struct context *cx, struct writer *w,
	       uint64_t ino);

/*
 * remap_keep() makes block BLKOFF of the file the existing virtual block
 * VBLOCKNR; remap_put() a new block with a copy of DATA.  Offsets ascend over
 * both (-EINVAL).  -EUCLEAN if VBLOCKNR is 0 or not a block of a file; -EFBIG
 * if the map is full; -ENOSPC, -ENOMEM, -EIO.
 */
int remap_keep(struct remap *r, struct context *cx, uint64_t blkoff,
	       uint64_t vblocknr);
int remap_put(struct remap *r, struct context *cx, uint64_t blkoff,
	      const void *data);

/*
 * Ends the map: sets i_bmap and i_blocks (nodes included) of INODE, which the
 * caller then passes to inodes_write().  The block count of the checkpoint
 * changes by the difference to the old i_blocks.  New blocks are placed with
 * the rest of the metadata.
 *
 * The caller ends old blocks that are not kept, including nodes:
 * directwriter_end(), before or afterwards.  -ENOSPC, -ENOMEM, -EIO.
 */
int remap_finish(struct remap *r, struct context *cx,
		 struct nilfs_inode *inode);

/*
 * NULL is accepted.  Without remap_finish() the new blocks belong to no file.
 */
void remap_close(struct remap *r);

#endif
