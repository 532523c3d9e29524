/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing: a volume gets more segments.
 */
#ifndef NILFS2_GC_GROW_H
#define NILFS2_GC_GROW_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/batch.h"

/* The size that is wanted: all of the device. */
#define GROW_ALL 0

struct grow_options {
	uint64_t bytes;		/* of the volume, or GROW_ALL */
	uint64_t time;		/* of the checkpoint, seconds */
};

struct grow {
	struct batch_totals totals;
	uint64_t bytes_before, segments_before;
	uint64_t bytes, segments;	/* of the volume now */
};

/*
 * Brings the volume on DEV to that size; an image file that is shorter becomes
 * as long first.  Nothing is done where it has that size.  -EINVAL where it has
 * more, or a block device has less, -ENOSPC where there is no room for a log,
 * -EUCLEAN where the volume must be recovered or repaired first, -EIO.
 */
int grow_run(struct grow *grow, struct context *cx, struct dev *dev,
	     const struct grow_options *options);

#endif
