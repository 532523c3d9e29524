/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rebuilding the map of a file: some of its blocks are kept, some get new
 * content, some are dropped.
 *
 * This changes existing files: roll-forward, salvage, entries of a directory.
 * The nodes are all new; kept data is not moved and keeps its virtual block
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
 * Begins a map for inode INO of W's checkpoint; W may be used for other files
 * meanwhile.  -ENOMEM.
 */
int remap_open(struct remap **rp, struct context *cx, struct writer *w,
	       uint64_t ino);

/*
 * Makes block BLKOFF of the file the existing virtual block VBLOCKNR; or DATA
 * (one block, copied), a new one.  Offsets ascend over both (-EINVAL).
 * -EUCLEAN if VBLOCKNR is 0 or not a block of a file; -EFBIG if the map is
 * full; -ENOSPC, -ENOMEM, -EIO.
 */
int remap_keep(struct remap *r, struct context *cx, uint64_t blkoff,
	       uint64_t vblocknr);
int remap_put(struct remap *r, struct context *cx, uint64_t blkoff,
	      const void *data);

/*
 * Ends the map: sets i_bmap and i_blocks (nodes included) of INODE, which the
 * caller then hands to inodes_write().  The checkpoint's count of blocks
 * changes by the difference to what i_blocks said before.  What is new gets
 * its place with the rest of the metadata.
 *
 * Old blocks that are not kept, nodes among them, are the caller's to end:
 * directwriter_end(), before or afterwards.  -ENOSPC, -ENOMEM, -EIO.
 */
int remap_finish(struct remap *r, struct context *cx,
		 struct nilfs_inode *inode);

/* NULL is accepted; unfinished, what was put is of no file. */
void remap_close(struct remap *r);

#endif
