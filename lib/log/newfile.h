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
 * True where NBLOCKS blocks (summary aside) can be placed now without being
 * cut by the end of the segment, or cannot be placed uncut anywhere.
 */
bool newfile_fits(const struct writer *w, uint64_t nblocks);

/*
 * How many blocks a file may have to fit what is left of the segment.  0: a
 * new segment is begun by whatever comes next.
 */
uint64_t newfile_room(const struct writer *w);

/*
 * True where newfile_skip() would leave more than 1/64 of the segment unused,
 * which is more than an extent less is worth.
 */
bool newfile_skip_wastes(const struct writer *w);

/* Fills the rest of the segment with collected metadata and leaves it. */
int newfile_skip(struct writer *w, struct context *cx);

/*
 * Places the blocks of inode INO: RUNS ascend, PAYLOAD (one holder, given
 * over; NULL without blocks) has them one after the other.  Sets i_bmap and
 * i_blocks (in sectors, nodes included, as the kernel counts) of INODE, which
 * the caller then hands to inodes_write().  -ENOSPC, -ENOMEM, and whatever
 * earlier payloads failed with.
 */
int newfile_place(struct writer *w, struct context *cx, uint64_t ino,
		  struct nilfs_inode *inode, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload);

/*
 * The same for blocks that are collected like metadata: directories, which
 * are read together and are not data.  DATA (COUNT blocks from offset 0) is
 * copied.
 */
int newfile_collect(struct writer *w, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode, const void *data,
		    uint64_t count);

/*
 * Gives a place to all that was placed and collected so far; the log ends.
 * Only then newfile_drop() can end a file of this writer.
 */
int newfile_settle(struct writer *w, struct context *cx);

/* Ends all blocks of INODE's map. */
int newfile_drop(struct writer *w, struct context *cx, uint64_t ino,
		 const struct nilfs_inode *inode);

#endif
