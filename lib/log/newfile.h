/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files (and directories, and symbolic links) placed as a whole.
 *
 * All blocks of a file are reserved in one step, before their content is read:
 * a file that fits into a segment has one extent, a longer one has one in each
 * segment.  To replace a file, drop the old blocks and place the new ones.
 */
#ifndef NILFS2_LOG_NEWFILE_H
#define NILFS2_LOG_NEWFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/ondisk.h"
#include "log/write/payload.h"
#include "log/writer.h"

/* Blocks of a file between holes. */
struct newfile_run {
	uint64_t blkoff;
	uint64_t count;
};

/*
 * True if NBLOCKS blocks (summary aside) can be placed now without being cut by
 * the end of the segment, or cannot be placed uncut anywhere.
 */
bool newfile_fits(const struct writer *w, uint64_t nblocks);

/*
 * How many blocks a file may have to fit into the rest of the segment.  0: the
 * next block begins a new segment.
 */
uint64_t newfile_room(const struct writer *w);

/*
 * True if newfile_skip() would leave more than 1/64 of the segment unused,
 * which costs more than one saved extent is worth.
 */
bool newfile_skip_wastes(const struct writer *w);

/*
 * Fills the rest of the segment with collected metadata and ends the segment.
 */
int newfile_skip(struct writer *w, struct context *cx);

/*
 * Places the blocks of inode INO.  RUNS ascend; PAYLOAD, whose reference is
 * passed on (NULL without blocks), contains them consecutively.  Sets i_bmap
 * and i_blocks (in sectors, nodes included, as the kernel counts) of INODE,
 * which the caller then passes to inodes_write().  -ENOSPC, -ENOMEM, and the
 * failure of an earlier payload.
 */
int newfile_place(struct writer *w, struct context *cx, uint64_t ino,
		  struct nilfs_inode *inode, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload);

/*
 * The same for blocks that are collected like metadata: directories, which are
 * read together.  DATA (COUNT blocks from offset 0) is copied.
 */
int newfile_collect(struct writer *w, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode, const void *data,
		    uint64_t count);

/*
 * Places all blocks listed and collected so far; the log ends.  newfile_drop()
 * can only then end a file of this writer.
 */
int newfile_settle(struct writer *w, struct context *cx);

/* Ends all blocks of INODE's map. */
int newfile_drop(struct writer *w, struct context *cx, uint64_t ino,
		 const struct nilfs_inode *inode);

#endif
