/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file whose map is made anew: some of its blocks stay where they are, some
 * get new content, some are gone.
 *
 * This is how a file is changed that exists already: roll-forward, salvage,
 * entries of a directory.  The nodes are all new; the data that is kept is not
 * moved and keeps its virtual block numbers.
 */
#ifndef NILFS2_LOG_REMAP_H
#define NILFS2_LOG_REMAP_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "log/writer.h"

struct remap;

/* Begins a map for inode INO of W's checkpoint.  -ENOMEM. */
int remap_open(struct remap **rp, struct context *cx, struct writer *w,
	       uint64_t ino);

/*
 * Block BLKOFF of the file is virtual block VBLOCKNR, as before; or DATA (one
 * block, copied), a new one.  Offsets ascend over both.  -EINVAL, -ENOMEM.
 */
int remap_keep(struct remap *r, struct context *cx, uint64_t blkoff,
	       uint64_t vblocknr);
int remap_put(struct remap *r, struct context *cx, uint64_t blkoff,
	      const void *data);

/*
 * Places what is new.  Sets i_bmap and i_blocks of INODE, which the caller
 * then hands to inodes_write().  Old blocks that are not kept, nodes among
 * them, are the caller's to end: mend_end().  -ENOSPC, -ENOMEM, -EIO.
 */
int remap_finish(struct remap *r, struct context *cx,
		 struct nilfs_inode *inode);

void remap_close(struct remap *r);	/* NULL is accepted */

#endif
