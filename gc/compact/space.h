/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The room of a batch of compaction, and the final end of all live blocks. */
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
	struct bitmap used;	/* segments that it cannot use; owned */
	uint64_t end;		/* approximate future end */
	/* The log continues in a new segment; it releases the next one. */
	bool fresh, next_taken;
	/* How far a batch with the blocks requested so far reaches. */
	uint64_t reach, room;
};

/* From FACTS, which must outlive S.  -ENOMEM. */
int space_open(struct space *s, struct context *cx,
	       const struct facts *facts);

/* Blocks that a batch can write to segments before END. */
uint64_t space_before(const struct space *s, uint64_t end);

/* The same for all segments but one, which becomes the next. */
uint64_t space_all(const struct space *s);

/*
 * The segment after all that a batch of NEED blocks uses.  NEED must not be
 * less than in the last call.
 */
uint64_t space_reach(struct space *s, uint64_t need);

/*
 * The segment after the last one in use, except the log's own, the next one,
 * and the N SEGNUMS.
 */
uint64_t space_last(struct space *s, const uint64_t *segnums, size_t n);

#endif
