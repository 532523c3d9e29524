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
	uint64_t *blocks;	/* the results */
	size_t count;		/* of both */
};

/*
 * Counts, for each given checkpoint, the blocks that would be dead without it, under
 * the assumption that only the given checkpoints and the latest state keep blocks.
 * With all snapshots given, the result is the space freed by deleting each snapshot.
 * Fails as datscan_run().
 */
int holdings_count(struct volume *vol, struct context *cx,
		   struct holdings *h);

#endif
