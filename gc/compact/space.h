/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a batch of compaction can write, and where all of it will end.
 */
#ifndef NILFS2_GC_SPACE_H
#define NILFS2_GC_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "gc/plan/facts.h"

struct space {
	const struct facts *facts;	/* borrowed */
	const struct nilfs_geometry *g;
	struct bitmap used;	/* segments that it cannot take; owned */
	uint64_t end;		/* about where the end is going to be */
	/* The log continues in a new segment; it releases the next one. */
	bool fresh, next_taken;
	/* How far a batch with the blocks requested so far reaches. */
	uint64_t reach, room;
};

/* By FACTS, as long as these are there.  -ENOMEM. */
int space_open(struct space *s, struct context *cx,
	       const struct facts *facts);

/* Blocks that a batch can write to segments before END. */
uint64_t space_before(const struct space *s, uint64_t end);

/* The same for all segments but one, which is to be the next. */
uint64_t space_all(const struct space *s);

/*
 * The segment after all that a batch of NEED blocks takes, which is not less
 * than in the last call.
 */
uint64_t space_reach(struct space *s, uint64_t need);

/*
 * The segment after the last one in use, but for the log's own and the next,
 * once these N are not.
 */
uint64_t space_last(struct space *s, const uint64_t *segnums, size_t n);

#endif
