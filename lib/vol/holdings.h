/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that only one checkpoint has: the space that deleting it would free.
 */
#ifndef NILFS2_VOL_HOLDINGS_H
#define NILFS2_VOL_HOLDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct volume;

struct holdings {
	const uint64_t *cnos;	/* the checkpoints that count, ascending */
	uint64_t *blocks;	/* results, from 0 */
	size_t count;		/* of both */
};

/*
 * Counts, for each given checkpoint, the blocks that would be dead without
 * it, were the given ones all that keep blocks besides the latest state.
 * Give all snapshots to learn what deleting a snapshot frees.  Fails as
 * datscan_run().
 */
int holdings_count(struct volume *vol, struct context *cx,
		   struct holdings *h);

#endif
