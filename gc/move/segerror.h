/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marking skipped segments as erroneous. */
#ifndef NILFS2_GC_SEGERROR_H
#define NILFS2_GC_SEGERROR_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/move/batch.h"

/*
 * Marks the N SEGMENTS of the volume on DEV, with a log of TIME (seconds),
 * which is added to TOTALS.  0 also for none of them.  Fails as volume_open(),
 * repairwriter_open() and onelog_commit().
 */
int segerror_segments(struct context *cx, struct dev *dev,
		      const uint64_t *segments, size_t n, uint64_t time,
		      struct batch_totals *totals);

#endif
