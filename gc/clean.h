/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleaning: batch after batch, until there is enough.
 */
#ifndef NILFS2_GC_CLEAN_H
#define NILFS2_GC_CLEAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/batch.h"
#include "gc/policy.h"

#define CLEAN_ALL UINT64_MAX

struct clean_options {
	const struct policy *policy;
	uint64_t max_search;	/* segments looked at per choice; 0: all */
	uint64_t goal;		/* more clean segments, or CLEAN_ALL */
	uint32_t min_dead;	/* percent of a segment that is worth it */
	uint64_t protect;	/* period, seconds */
	struct batch_options batch;
	/* A segment that is left alone is told, with the reason. */
	void (*left)(void *arg, uint64_t segnum, const char *why);
	void *arg;
};

struct clean {
	struct batch_totals totals;
	uint64_t clean_before;	/* segments */
	uint64_t left;		/* victims that could not be cleaned */
};

/*
 * Cleans the volume on DEV.  0 also where the goal was not reached.  -EUCLEAN
 * where the volume must be recovered or mended first, -ENOSPC where there is
 * no clean segment to begin with, -EIO, -EINTR, -ENOMEM: all batches that were
 * completed stay.
 */
int clean_run(struct clean *c, struct context *cx, struct dev *dev,
	      const struct clean_options *options);

#endif
