/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compaction: moving all live blocks to the front of the volume.
 */
#ifndef NILFS2_GC_COMPACT_H
#define NILFS2_GC_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/move/collector.h"

/* The end of the used part of a volume, which compaction reduces. */
struct usedend {
	uint64_t end;		/* segments up to the last one with content */
	uint64_t used;		/* segments in use */
	uint64_t clean;
	uint64_t places;	/* sum of the numbers of those with content */
	uint64_t next;		/* where the log continues */
	uint64_t segment;	/* blocks per segment */
};

/* Measures the volume on DEV by its SUFILE.  -EUCLEAN, -EIO. */
int compact_measure(struct usedend *r, struct context *cx, struct dev *dev);

struct compact_options {
	struct collector_options how;
	/* Move all blocks, unless they are in this order already. */
	bool all;
	enum order_kind order;
};

struct compact {
	struct batch_totals totals;
	struct usedend before, after;
	uint64_t left;		/* segments that were skipped */
};

/*
 * Compacts the volume on DEV, as far as there is a gain: a second run does
 * nothing.  -EUCLEAN if the volume must be recovered or repaired first, -EIO,
 * -ENOSPC, -EINTR, -ENOMEM: completed batches stay.
 */
int compact_run(struct compact *c, struct context *cx, struct dev *dev,
		const struct compact_options *options);

#endif
