/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shrinking: removing segments from a volume.
 */
#ifndef NILFS2_GC_SHRINK_H
#define NILFS2_GC_SHRINK_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/clean/clean.h"
#include "gc/move/batch.h"

/* The requested size: the minimum. */
#define SHRINK_LEAST 0

struct shrink_options {
	uint64_t bytes;		/* of the volume, or SHRINK_LEAST */
	/* Options of the cleaning, if needed, except for the goal. */
	struct clean_options clean;
};

struct shrink {
	struct batch_totals totals;
	uint64_t bytes_before, segments_before;
	uint64_t bytes, segments;	/* of the volume now */
	uint64_t left;			/* segments that could not be cleaned */
	/* With SHRINK_LEAST: the volume may be larger because of these. */
	uint64_t failed_reads;
};

/*
 * Shrinks the volume on DEV to that size, and the device, if it is an image
 * file.  Does nothing if it has that size.  -ENOSPC if it cannot be that small,
 * with the minimum in the text, -EINVAL if it is smaller already: nothing was
 * changed then.  Otherwise as clean_run().
 */
int shrink_run(struct shrink *s, struct context *cx, struct dev *dev,
	       const struct shrink_options *options);

#endif
