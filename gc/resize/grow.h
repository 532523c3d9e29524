/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing: adding segments to a volume.
 */
#ifndef NILFS2_GC_GROW_H
#define NILFS2_GC_GROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/move/batch.h"

struct live;

/* The requested size: all of the device. */
#define GROW_ALL 0

struct grow_options {
	uint64_t bytes;		/* of the volume, or GROW_ALL */
	uint64_t time;		/* of the checkpoint, seconds */
	const struct live *live;	/* the mounted volume of the device, or NULL */
	bool forecast;		/* do not change a mounted volume */
};

struct grow {
	struct batch_totals totals;
	uint64_t bytes_before, segments_before;
	uint64_t bytes, segments;	/* of the volume now */
};

/*
 * Enlarges the volume on DEV to that size; a shorter image file is extended
 * first.  Of a mounted volume the kernel does it.  Does nothing if it has that size.  -EINVAL if it is larger, or a
 * block device is smaller, -ENOSPC if there is no room for a log, -EUCLEAN if
 * the volume must be recovered or repaired first, -EIO.
 */
int grow_run(struct grow *grow, struct context *cx, struct dev *dev,
	     const struct grow_options *options);

#endif
