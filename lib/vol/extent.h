/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files as runs of blocks, for reading payload in large requests.
 */
#ifndef NILFS2_VOL_EXTENT_H
#define NILFS2_VOL_EXTENT_H

#include "vol/file.h"
#include "vol/rollforward.h"

/* A run of file blocks that are adjacent on the disk. */
struct extent {
	uint64_t blkoff;
	uint64_t blocknr;
	uint64_t count;		/* blocks */
};

/* A cursor over the extents of a file in file order; holes are left out. */
struct extent_cursor {
	struct file *file;
	struct blockmap_cursor map;
	struct blockmap_item item;	/* the map's next block */
	bool have_item;
	const struct salvaged_block *salvaged;	/* the preview's next block */
	struct extent ahead;	/* a block read from a stream, if count is not 0 */
	size_t given;		/* index in the file's own extents */
};

/* Starts at file block BLKOFF. */
int extent_cursor_open(struct extent_cursor *cur, struct context *cx,
		       struct file *file, uint64_t blkoff);
/* 1 and *EXTENT (never longer than MAX blocks), 0 at the end, failure. */
int extent_cursor_next(struct extent_cursor *cur, struct context *cx,
		       uint64_t max, struct extent *extent);
void extent_cursor_close(struct extent_cursor *cur);

#endif
