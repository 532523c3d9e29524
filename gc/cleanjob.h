/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of cleaning: segments are freed by a policy. */
#ifndef NILFS2_GC_CLEANJOB_H
#define NILFS2_GC_CLEANJOB_H

#include "disk/geometry.h"
#include "gc/clean.h"
#include "gc/job.h"

extern const struct job cleanjob;

/*
 * How segments are cleaned as O has it, but for the goal, and for whom anything
 * is told to.
 */
struct clean_options cleanjob_options(const struct tool *tool,
				      const struct options *o);

/*
 * What it does, by POLICY, to the volume on DEV, whose geometry is *G then.
 * Nothing is told but progress, and segments that are left alone unless
 * policies are compared.  Fails as clean_run().
 */
int cleanjob_clean(struct tool *tool, const struct options *o,
		   const struct policy *policy, struct dev *dev,
		   struct clean *c, struct nilfs_geometry *g);

#endif
