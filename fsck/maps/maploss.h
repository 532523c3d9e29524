/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lost parts of the maps of files: blocks whose pointer leads nowhere, and
 * ranges whose content is unknown.
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

/* Whether that block is lost, or is in a gap. */
bool maploss_has(const struct maploss *l, uint64_t ino, uint64_t blkoff);

struct contested_block {
	uint64_t vblocknr;
	/* The owner by the log. */
	bool known, is_node;
	uint64_t ino, blkoff;
};

/* All zero is empty. */
struct contested {
	struct contested_block *list;
	size_t n, room;
};

/* Adds VBLOCKNR; contested_settle() comes before any question.  -ENOMEM. */
int contested_add(struct contested *c, struct context *cx, uint64_t vblocknr);
void contested_settle(struct contested *c);
void contested_fini(struct contested *c);

/* The block VBLOCKNR, or NULL if it is not contested. */
struct contested_block *contested_find(const struct contested *c,
				       uint64_t vblocknr);

/*
 * True where B is that of the pointer of inode INO to block BLKOFF, or to a
 * node where LEVEL is not 0.
 */
static inline bool contested_is_of(const struct contested_block *b,
				   uint64_t ino, uint64_t blkoff,
				   unsigned int level)
{
	return b->known && b->ino == ino && b->is_node == (level > 0) &&
	       (level || b->blkoff == blkoff);
}

/* COUNT blocks of inode INO from BLKOFF on. */
struct mapfound_run {
	uint64_t ino, blkoff, count;
	uint64_t vblocknr;	/* of the first; 0: their content is copied */
	uint64_t blocknr;	/* of the first, on the device */
	uint64_t cno;		/* the checkpoint that has them, 0: a log */
	uint64_t seq;		/* of the log's segment */
};

/* All zero is empty. */
struct mapfound {
	struct mapfound_run *runs;
	size_t n, room;
	size_t settled;		/* the first ones, by the last settling */
};

/* Adds RUN, to the last one if it goes on there.  -ENOMEM. */
int mapfound_add(struct mapfound *f, struct context *cx,
		 const struct mapfound_run *run);

/*
 * Sorts what was added by inode and block, and leaves of runs that overlap the
 * better part: one that lives before a copy, of a log before one of a
 * checkpoint, the later one.  -ENOMEM.
 */
int mapfound_settle(struct mapfound *f, struct context *cx);
void mapfound_fini(struct mapfound *f);

/* Of what is settled: index of the first run of INO, or behind, that ends
   after block BLKOFF. */
size_t mapfound_find(const struct mapfound *f, uint64_t ino, uint64_t blkoff);

/* Of what is settled: whether some run has block BLKOFF of INO. */
bool mapfound_has(const struct mapfound *f, uint64_t ino, uint64_t blkoff);

#endif
