/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One batch: victims become clean segments with one more checkpoint.
 */
#ifndef NILFS2_GC_BATCH_H
#define NILFS2_GC_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/load.h"
#include "log/writer.h"

struct batch_options {
	uint64_t time;		/* seconds, of the checkpoint */
	bool front;		/* to the lowest clean segments */
	bool forecast;		/* content is neither read nor written */
};

/* What came of it; counts add up over batches. */
struct batch_totals {
	uint64_t batches;
	uint64_t victims;	/* segments that became clean */
	uint64_t moved;		/* blocks */
	uint64_t forgotten;	/* dead blocks whose numbers are free again */
	uint64_t written;	/* blocks, all that goes to the device */
	uint64_t checkpoints;	/* that are gone */
	uint64_t clean;		/* segments, after the last batch */
};

/*
 * Moves LOAD (sorted) away, and writes superblocks that say so.  Until then
 * nothing has changed.  -EIO where a block cannot be read: *BAD is where it is
 * (else 0).  -ENOSPC, -EUCLEAN, -EINTR, -ENOMEM.
 */
int batch_run(const struct load *load, struct context *cx, struct volume *vol,
	      const struct batch_options *options,
	      struct batch_totals *totals, uint64_t *bad);

/* Blocks that the logs of LOAD take, at most. */
uint64_t batch_need(const struct load *load);

#endif
