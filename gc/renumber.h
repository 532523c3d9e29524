/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other virtual block numbers for blocks that are moved.
 */
#ifndef NILFS2_GC_RENUMBER_H
#define NILFS2_GC_RENUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/move.h"
#include "log/tally.h"
#include "vol/volume.h"

struct renumber_pair {
	uint64_t from, to;
};

struct renumber {
	const struct volume *vol;	/* borrowed */
	struct renumber_pair *pairs;
	size_t n, room;
	struct tally avoided;	/* blocks of the DAT that are or become holes */
	size_t nleft;		/* that become holes */
};

void renumber_init(struct renumber *r, const struct volume *vol);
void renumber_fini(struct renumber *r);

/* VBLOCKNR, once, is to get another number.  -ENOMEM. */
int renumber_add(struct renumber *r, struct context *cx, uint64_t vblocknr);

/* Block BLKOFF of the DAT becomes a hole.  -ENOMEM. */
int renumber_leave(struct renumber *r, struct context *cx, uint64_t blkoff);

/*
 * Takes the new numbers from W, which avoids holes.  Before that the parts and
 * blocks below are as they are.  As move_renumber().
 */
int renumber_take(struct renumber *r, struct context *cx, struct writer *w);

/* What follows the first SKIP blocks of RUN under numbers in a row. */
struct move_run renumber_part(const struct renumber *r,
			      const struct move_run *run, uint32_t skip);

/*
 * BLOCK, number AT of RUN, as it is to be written: with pointers to blocks by
 * their new numbers, where it has pointers.
 */
void renumber_block(const struct renumber *r, const struct move_run *run,
		    uint32_t at, void *block);

#endif
