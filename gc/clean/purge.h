/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Purging: removing unreferenced content from the device. */
#ifndef NILFS2_GC_PURGE_H
#define NILFS2_GC_PURGE_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/move/collector.h"

struct zeroing {
	uint64_t bytes;		/* that are zero now */
	uint64_t skipped;	/* segments marked as erroneous */
	/* Called with the number of zeroed bytes, or NULL. */
	void (*done)(void *arg, uint64_t bytes);
	void *arg;
};

struct purge {
	struct batch_totals totals;
	struct zeroing zeroing;	/* the caller sets the callback */
	uint64_t left;		/* segments that keep remains */
};

/*
 * Moves all segments with dead blocks of files, however few, and zeros all free
 * space: clean segments, and the space after the last log of the others.  HOW
 * defines which blocks are kept, and may be a forecast, which only counts.
 * -EUCLEAN, before anything is lost, if the DAT has a block in free space.  Or
 * fails as collector_open() and collector_move(); completed batches stay.
 */
int purge_run(struct purge *p, struct context *cx, struct dev *dev,
	      const struct collector_options *how);

#endif
