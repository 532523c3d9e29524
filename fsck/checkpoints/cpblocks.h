/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a damaged checkpoint file: which exist, and what is left of
 * each.
 */
#ifndef NILFS2_FSCK_CPBLOCKS_H
#define NILFS2_FSCK_CPBLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "fsck/checkpoints/cpcopies.h"
#include "fsck/derive/liveblocks.h"

struct cpblocks {
	const struct check *check;
	struct cpcopies copies;
	struct liveblocks live;
	uint64_t *blkoffs;	/* ascending */
	size_t n, room;
};

/* Gathers them; S is all zero.  -ENOMEM, -EINTR; cpblocks_fini() also then. */
int cpblocks_init(struct cpblocks *s, struct context *cx,
		  const struct check *c);
void cpblocks_fini(struct cpblocks *s);

/* How a block came to have its content. */
enum cpblocks_origin {
	CPBLOCKS_MAPPED,	/* the map leads to it */
	CPBLOCKS_FOUND,		/* alive, but only the logs know it */
	CPBLOCKS_OLD,		/* an older copy, or nothing */
};

struct cpblock {
	uint64_t blkoff;
	void *data;		/* the caller's, a block */
	enum cpblocks_origin origin;
	uint64_t vblocknr;	/* where that content is alive, or 0 */
	uint64_t blocknr;	/* where it was read; 0: an older copy */
	uint64_t written;	/* with this checkpoint; 0: not known */
};

/*
 * Fills B, of which BLKOFF and DATA are given; where nothing is left of the
 * block, it is one without valid entries.  -ENOMEM, -EINTR, -EIO.
 */
int cpblocks_read(const struct cpblocks *s, struct context *cx,
		  struct cpblock *b);

#endif
