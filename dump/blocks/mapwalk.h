/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block map as runs of contiguous blocks, and its sums. */
#ifndef NILFS2_DUMP_MAPWALK_H
#define NILFS2_DUMP_MAPWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/blockmap.h"

/* Blocks that are contiguous in the file, in virtual numbers and on the disk. */
struct maprun {
	uint64_t blkoff;
	uint64_t last;		/* of a node: the last block it can lead to */
	uint64_t count;		/* blocks of the disk; 1 for a node */
	uint64_t ptr;		/* virtual block; disk block in the DAT */
	uint64_t blocknr;	/* 0: the DAT has none */
	unsigned int level;	/* 0: data, else a node */
};

struct mapwalk {
	const struct blockmap *map;
	struct blockmap_cursor cursor;
	bool single;		/* one block a run */
	struct maprun ahead;	/* the next run so far, if count */
	uint64_t disk_end;	/* one past the last data block on the disk */
	uint64_t file_end;	/* one past it in the file */

	/* So far: */
	uint64_t data, nodes;	/* blocks */
	uint64_t extents;	/* runs on the disk, of any virtual numbers */
	uint64_t unmapped;	/* blocks that the DAT does not map */
};

/*
 * Starts at the first block.  With NODES, nodes are counted and returned, each
 * before the blocks below it; with SINGLE each block is a run.
 */
int mapwalk_open(struct mapwalk *walk, struct context *cx,
		 const struct blockmap *map, bool nodes, bool single);

/*
 * Steps: 1 and *RUN, 0 at the end, -EUCLEAN for a broken node, -EIO.  A
 * virtual block that the DAT does not map is a run with blocknr 0.
 */
int mapwalk_next(struct mapwalk *walk, struct context *cx,
		 struct maprun *run);
void mapwalk_close(struct mapwalk *walk);

/* The last block of the map: 1 and *KEY, 0 for an empty map, -EUCLEAN, -EIO. */
int mapwalk_last(const struct blockmap *map, struct context *cx,
		 uint64_t *key);

/* The highest level of the map; 0: it is direct. */
unsigned int mapwalk_levels(const struct blockmap *map);

#endif
