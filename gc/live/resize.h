/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shrinking a mounted volume.
 */
#ifndef NILFS2_GC_LIVE_RESIZE_H
#define NILFS2_GC_LIVE_RESIZE_H

#include <stdint.h>

#include "base/context.h"
#include "gc/live/online.h"

struct dev;
struct live;

struct resize_online {
	uint64_t bytes_before, segments_before;
	uint64_t bytes, segments;	/* of the volume now */
	struct online totals;		/* without clean_before and clean_after */
	uint64_t rounds;
};

/*
 * Shrinks the volume of LIVE on DEV, the device without page cache, to BYTES, a
 * multiple of 4096; the device itself keeps its size.  HOW are the options of
 * cleaning, of which goal, min_dead, the range and fate are not used; a forecast only
 * finds out whether the blocks fit.  The caller holds the lock of the cleaner.
 * -EINVAL if the volume is not larger than BYTES, -ENOSPC if its blocks do not fit, or
 * could not be moved, with the reason; otherwise as online_run().  After a failure
 * blocks may have been moved, and the kernel writes to the whole volume as before.
 */
int resize_online(struct resize_online *r, struct context *cx,
		  const struct live *live, struct dev *dev,
		  uint64_t (*clock)(void), uint64_t bytes,
		  const struct online_options *how);

#endif
