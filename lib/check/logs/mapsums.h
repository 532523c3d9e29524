/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether maps and logs have the blocks of files at the same places. */
#ifndef NILFS2_CHECK_MAPSUMS_H
#define NILFS2_CHECK_MAPSUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct check;

#define MAPSUMS 256u	/* files share one where their numbers are congruent */

/* Over data blocks of files that live now or in a snapshot, in any order. */
struct mapsum {
	uint64_t sum, blocks;
};

struct mapsums {
	struct mapsum listed[MAPSUMS];	/* as logs have them (pass logs) */
	struct mapsum mapped[MAPSUMS];	/* as maps have them (pass tree) */
	bool closed;			/* those that follow are of no snapshot */
};

/*
 * Adds virtual block VBLOCKNR as block KEY of file INO to S.  The factor is odd,
 * so that no flipped bit of a key leaves the product as it was.
 */
static inline void mapsum_add(struct mapsum *s, uint64_t vblocknr, uint64_t ino,
			      uint64_t key)
{
	s->sum += (2 * vblocknr + 1) *
		  (key + ino * UINT64_C(0x9e3779b97f4a7c15));
	s->blocks++;
}

/* Adds S, of blocks of file INO, to SUMS, which threads share. */
static inline void mapsums_add(struct mapsum *sums, uint64_t ino,
			       const struct mapsum *s)
{
	struct mapsum *all = &sums[ino % MAPSUMS];

	__atomic_fetch_add(&all->sum, s->sum, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->blocks, s->blocks, __ATOMIC_RELAXED);
}

/*
 * After the passes over logs and trees: where both met as many blocks of some
 * files and the sums differ, asks the maps of these files for each block that
 * the logs list, and reports the first one that is not there.  -ENOMEM, -EINTR.
 */
int mapsums_check(struct check *c, struct context *cx);

#endif
