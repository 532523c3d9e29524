/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A picture of a sweep: write amplification by what is swept.
 *
 * The first axis of numbers goes along x; without one the words of the first
 * axis do, or, where nothing is swept, the policies.  Each policy is a series,
 * and each combination of the other axes and volumes has a plot, all of them
 * with the same scales.
 */
#ifndef NILFS2_GC_SIM_SIMPLOT_H
#define NILFS2_GC_SIM_SIMPLOT_H

#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"

#define SIMPLOT_PLOTS_MAX 64u

/* The plots for PLAN. */
size_t simplot_count(const struct simplan *plan);

/*
 * Writes them to PATH, with the mean of the runs that differ by seed, and the
 * interval of 95 % where there are several.  Runs without a number have no
 * point.  Fails as outfile_open(): never over the file INPUT (NULL: none).
 */
int simplot_write(struct context *cx, const char *path, const char *input,
		  const struct simplan *plan, const struct simrow *rows);

#endif
