/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map of a file of the newest checkpoint, walked to tell what is sound of
 * it from what is not.
 */
#ifndef NILFS2_FSCK_MAPSIFT_H
#define NILFS2_FSCK_MAPSIFT_H

#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/vblocks.h"
#include "disk/ondisk.h"
#include "fsck/maps/contested.h"

enum mapsift_worth {
	MAPSIFT_SOUND,	/* the block is this file's and lives */
	MAPSIFT_SHARED,	/* nobody knows whose of several pointers it is */
	MAPSIFT_LOST,	/* nothing is there, or another's */
};

struct mapsift_block {
	uint64_t blkoff, vblocknr;
	uint64_t blocknr;	/* unless it is lost */
	enum mapsift_worth worth;
};

/* Blocks and gaps come in the order of the file; 0, or a failure. */
struct mapsift {
	struct check *check;
	const struct contested *contested;
	uint64_t ino;
	int (*block)(void *arg, struct context *cx,
		     const struct mapsift_block *b);
	/* What there is from BLKOFF up to END cannot be determined. */
	int (*gap)(void *arg, struct context *cx, uint64_t blkoff,
		   uint64_t end);
	/* A node that is this file's and lives; NULL: nobody asks. */
	int (*node)(void *arg, struct context *cx, uint64_t vblocknr);
	void *arg;

	struct vblocks vblocks[2];	/* its own: of data, of nodes */
};

/*
 * Walks the map of INODE, which has one.  0, -ENOMEM, -EINTR, or what one of
 * the calls failed with.
 */
int mapsift_run(struct mapsift *s, struct context *cx,
		const struct nilfs_inode *inode);

#endif
