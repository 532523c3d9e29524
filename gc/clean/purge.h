/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Purging: removing unreferenced content from the device. */
#ifndef NILFS2_GC_PURGE_H
#define NILFS2_GC_PURGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/clean/zeroing.h"
#include "gc/move/collector.h"

struct purge {
	struct batch_totals totals;
	struct zeroing zeroing;	/* its callback is the caller's */
	uint64_t left;		/* segments in which remains stay */
};

/*
 * Moves all segments with blocks of files that nothing refers to, however few,
 * and zeros all free space.  HOW defines which blocks are kept, and may be a
 * forecast.  Fails as collector_open(), collector_move() and zeroing_run();
 * completed batches stay.
 */
int purge_run(struct purge *p, struct context *cx, struct dev *dev,
	      const struct collector_options *how);

#endif
