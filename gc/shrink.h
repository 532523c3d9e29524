/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shrinking: a volume gets fewer segments.
 */
#ifndef NILFS2_GC_SHRINK_H
#define NILFS2_GC_SHRINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/batch.h"
#include "gc/clean.h"

/* The size that is wanted: as small as can be. */
#define SHRINK_LEAST 0

struct shrink_options {
	uint64_t bytes;		/* of the volume, or SHRINK_LEAST */
	/* How it is cleaned where that is needed; the goal is none of it. */
	struct clean_options clean;
};

struct shrink {
	struct batch_totals totals;
	uint64_t bytes_before, segments_before;
	uint64_t bytes, segments;	/* of the volume now */
	uint64_t left;			/* segments that could not be cleaned */
};

/*
 * Brings the volume on DEV to that size, and the device, where it is an image
 * file, with it.  Nothing is done where it is as small already.  -ENOSPC where
 * it cannot be that small, with the least size in the text, -EINVAL where it is
 * smaller than that already: nothing was changed then.  Otherwise as
 * clean_run().
 */
int shrink_run(struct shrink *s, struct context *cx, struct dev *dev,
	       const struct shrink_options *options);

#endif
