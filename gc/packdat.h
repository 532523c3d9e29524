/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packing the DAT: numbers in use gather in fewer blocks of it.
 */
#ifndef NILFS2_GC_PACKDAT_H
#define NILFS2_GC_PACKDAT_H

#include "base/context.h"
#include "dev/dev.h"
#include "gc/batch.h"

struct packdat_options {
	uint64_t protect;	/* period, seconds */
	struct batch_options batch;
};

/*
 * Whether so many blocks could go that a segment may: 1, 0, or a failure as of
 * volume_open().
 */
int packdat_promises(struct context *cx, struct dev *dev);

/*
 * Packs it with batches, as long as there is room and something to be had.
 * Checkpoints show what they did.  Adds to TOTALS.  As batch_run().
 */
int packdat_run(struct context *cx, struct dev *dev,
		const struct packdat_options *options,
		struct batch_totals *totals);

#endif
