/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleaning: batch after batch, until the goal is reached.
 */
#ifndef NILFS2_GC_CLEAN_H
#define NILFS2_GC_CLEAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/move/collector.h"
#include "gc/plan/policy.h"

struct facts;

#define CLEAN_ALL UINT64_MAX

/* The result for a segment that could be cleaned. */
enum clean_fate {
	CLEAN_FREED,
	CLEAN_SPARED,		/* too few dead blocks */
	CLEAN_FULL,		/* no room, or no memory */
	CLEAN_LEFT,		/* damaged */
	CLEAN_YOUNG,		/* a superblock may need it */
	CLEAN_UNNEEDED,		/* enough is clean, or there is no gain */
};

struct clean_options {
	const struct policy *policy;
	uint32_t metadata_weight;	/* percent, for it */
	uint64_t max_search;	/* segments examined per choice; 0: all */
	uint64_t goal;		/* more clean segments, or CLEAN_ALL */
	uint32_t min_dead;	/* percent of a segment, for it to be cleaned */
	struct collector_options how;
	/*
	 * Called with the fate of each candidate, with HOW's argument: for
	 * victims once they are clean, for the others at the end; or NULL.
	 */
	void (*fate)(void *arg, const struct policy_segment *s,
		     enum clean_fate fate);
};

/* Blocks that are not in the latest state, in segments that were not cleaned. */
struct clean_rest {
	uint64_t protected, snapshot;	/* kept for these */
	uint64_t spared;	/* dead, in segments with too few of them */
	uint64_t others;	/* dead, in others */
};

struct clean {
	struct batch_totals totals;
	uint64_t clean_before;	/* segments */
	uint64_t left;		/* victims that could not be cleaned */
	struct clean_rest rest;
	bool short_memory;	/* with more memory for a batch more may be cleaned */
};

/* Sums up what the candidates of F have; PERCENT is clean_options.min_dead. */
void clean_measure_rest(struct clean_rest *rest, const struct facts *f,
			uint32_t percent);

/*
 * Cleans the volume on DEV.  0 also if the goal was not reached.  -EUCLEAN if
 * the volume must be recovered or repaired first, -ENOSPC if no segment is
 * clean, and there is too little room otherwise, -EIO, -EINTR, -ENOMEM:
 * completed batches stay.
 */
int clean_run(struct clean *c, struct context *cx, struct dev *dev,
	      const struct clean_options *options);

#endif
