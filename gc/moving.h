/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common parts of the jobs that move blocks. */
#ifndef NILFS2_GC_MOVING_H
#define NILFS2_GC_MOVING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/tool.h"
#include "disk/geometry.h"
#include "gc/clean/clean.h"
#include "gc/move/batch.h"
#include "gc/live/online.h"
#include "gc/move/collector.h"
#include "gc/options.h"
#include "out/report.h"

/* The argument of callbacks of a collector. */
struct moving {
	struct tool *tool;
	bool begun;		/* the progress of moving has begun */
};

/* The options of a collector for O, without callbacks. */
struct collector_options moving_options(const struct tool *tool,
					const struct options *o);

/* The options of cleaning for O, except the goal. */
struct clean_options moving_clean_options(const struct tool *tool,
					  const struct options *o);

/* Those of cleaning a mounted volume. */
struct online_options moving_online_options(const struct options *o);

/* Finds the sizes of the volume on DEV.  Fails as volume_open_bare(). */
int moving_geometry(struct context *cx, struct dev *dev, struct nilfs_geometry *g);

/*
 * Makes OPTIONS warn of segments that are skipped, announce checkpoints that may be
 * deleted, and show progress, which the caller ends by progress_end().
 */
void moving_begin(struct moving *m, struct tool *tool,
		  struct collector_options *options);

/*
 * Reports TOTALS, and the time since the job BEGAN (tool_clock()), as members
 * of the open section.
 */
void moving_put(struct report *r, const struct batch_totals *totals,
		uint64_t began);

#endif
