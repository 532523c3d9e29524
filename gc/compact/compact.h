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
#include "gc/compact/usedend.h"
#include "gc/move/collector.h"

struct compact_options {
	struct collector_options how;
	/* Everything is moved, unless it has this order already. */
	bool all;
	enum order_kind order;
};

struct compact {
	struct batch_totals totals;
	struct usedend before, after;
	uint64_t left;		/* segments that were left alone */
};

/*
 * Compacts the volume on DEV, as far as anything is gained: a second run does
 * nothing.  -EUCLEAN where the volume must be recovered or repaired first,
 * -EIO, -ENOSPC, -EINTR, -ENOMEM: all batches that were completed stay.
 */
int compact_run(struct compact *c, struct context *cx, struct dev *dev,
		const struct compact_options *options);

#endif
