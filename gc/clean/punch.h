/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deallocating unused space: images become sparse. */
#ifndef NILFS2_GC_PUNCH_H
#define NILFS2_GC_PUNCH_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

struct punch_totals {
	uint64_t segments;	/* clean ones */
	uint64_t bytes;		/* deallocated, with those after the segments */
};

/*
 * Discards the clean segments of the volume on DEV, and what is between the
 * last segment and the second superblock.  -EOPNOTSUPP for a device with zones,
 * -EUCLEAN if a clean segment has live blocks, or as target_check_volume() and
 * dev_discard().
 */
int punch_run(struct punch_totals *totals, struct context *cx,
	      struct dev *dev);

#endif
