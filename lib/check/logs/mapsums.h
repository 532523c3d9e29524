/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the keys of file blocks in maps and in logs. */
#ifndef NILFS2_CHECK_MAPSUMS_H
#define NILFS2_CHECK_MAPSUMS_H

#include "base/context.h"

struct check;

#define MAPSUMS 256u	/* files with congruent numbers share a sum */

/* Sum over data blocks of files that are live now or in a snapshot, in any
   order. */
struct mapsum {
	uint64_t sum, blocks;
};

struct mapsums {
	struct mapsum listed[MAPSUMS];	/* by the logs (pass logs) */
	struct mapsum mapped[MAPSUMS];	/* by the maps (pass tree) */
	bool closed;			/* later checkpoints are not
					   snapshots: add nothing */
};

/*
 * Adds virtual block VBLOCKNR as block KEY of file INO to S.  The factor is
 * odd, so that a flipped bit of a key always changes the product.
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
 * Call after the passes over logs and trees.  If sums differ although both
 * passes visited as many blocks, compares the maps of these files with each
 * block that the logs list, and reports the first block that is missing.
 * -ENOMEM, -EINTR.
 */
int mapsums_check(struct check *c, struct context *cx);

#endif
