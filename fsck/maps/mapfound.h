/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of files that were found again, in runs.
 */
#ifndef NILFS2_FSCK_MAPFOUND_H
#define NILFS2_FSCK_MAPFOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

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
