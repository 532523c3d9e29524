/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requested jobs: whether they go together, and their order. */
#ifndef NILFS2_GC_JOBS_H
#define NILFS2_GC_JOBS_H

#include "base/context.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "gc/options.h"

/* -EINVAL, with both options in the text, if O requests jobs that conflict. */
int jobs_check(struct context *cx, const struct options *o);

/*
 * Runs the jobs that O requests, each on the volume that the one before has
 * left; a forecast has them all on one overlay.  Where one of them is refused
 * (gc/job.h) none is run.  0, JOB_UNDONE or JOB_LEFT of
 * one of them, or a failure, which ends it.
 */
int jobs_run(struct tool *tool, const struct options *o, struct dev *dev);

#endif
