/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Purging: what nobody needs is gone from the device, too. */
#ifndef NILFS2_GC_PURGE_H
#define NILFS2_GC_PURGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/collector.h"
#include "gc/zeroing.h"

struct purge {
	struct batch_totals totals;
	struct zeroing zeroing;	/* its callback is the caller's */
	uint64_t left;		/* segments in which remains stay */
};

/*
 * Moves what lives away from all blocks of files that nothing refers to, be
 * there ever so few in a segment, and makes all free space read as zeros.  HOW
 * says what is needed, and may be a forecast.  Fails as collector_open(),
 * collector_move() and zeroing_run(); batches that were completed stay.
 */
int purge_run(struct purge *p, struct context *cx, struct dev *dev,
	      const struct collector_options *how);

#endif
