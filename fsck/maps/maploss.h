/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is lost of the maps of files: blocks whose pointer leads nowhere, and
 * parts of which there is no telling what was in them.
 */
#ifndef NILFS2_FSCK_MAPLOSS_H
#define NILFS2_FSCK_MAPLOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct maploss_point {
	uint64_t ino, blkoff;
	uint64_t vblocknr;	/* as the pointer says; 0: there is none */
};

struct maploss_gap {
	uint64_t ino, blkoff, end;
};

/* All zero is empty.  Both lists ascend. */
struct maploss {
	struct maploss_point *points;
	size_t npoints, points_room;
	struct maploss_gap *gaps;
	size_t ngaps, gaps_room;
};

/* Add one, in the order of inodes and of blocks.  -ENOMEM. */
int maploss_add_point(struct maploss *l, struct context *cx,
		      const struct maploss_point *point);
int maploss_add_gap(struct maploss *l, struct context *cx,
		    const struct maploss_gap *gap);
void maploss_fini(struct maploss *l);

/* Index of the first point, or gap, of inode INO or after it. */
size_t maploss_first_point(const struct maploss *l, uint64_t ino);
size_t maploss_first_gap(const struct maploss *l, uint64_t ino);

/* The point at block BLKOFF of inode INO, or NULL. */
const struct maploss_point *maploss_point(const struct maploss *l,
					  uint64_t ino, uint64_t blkoff);

/* True where that block is lost, or lies in a gap. */
bool maploss_has(const struct maploss *l, uint64_t ino, uint64_t blkoff);

#endif
