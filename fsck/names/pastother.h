/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other versions of a block of a directory of a snapshot. */
#ifndef NILFS2_FSCK_PASTOTHER_H
#define NILFS2_FSCK_PASTOTHER_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/names/pastentry.h"
#include "fsck/past/pastblocks.h"

struct pastother {
	struct pastblocks *p;
	struct pastentry *e;	/* the block at hand */
	uint64_t *cnos;		/* all checkpoints, ascending */
	size_t n;
	le32 generation;	/* of the directory */
	struct pastblocks_block where;
	size_t below, above;	/* those before and after that were not asked */
	unsigned int asked;
};

/* Begins with the checkpoints nearest to the life of the block. */
void pastother_begin(struct pastother *o);

/*
 * Reads the block of the next checkpoint that has another one into
 * O->e->other, of O->e->then: 1, 0 where there is no more, -ENOMEM, -EINTR.
 */
int pastother_next(void *o, struct context *cx);

/*
 * Whether all checkpoints that have the block, as well as the next ones, have a
 * directory by that number, or nothing: 1, 0, -ENOMEM, -EINTR.
 */
int pastother_is_dir(struct pastother *o, struct context *cx);

#endif
