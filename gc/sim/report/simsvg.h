/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures: of the runs of all policies over time, and of a sweep. */
#ifndef NILFS2_GC_SIM_SIMSVG_H
#define NILFS2_GC_SIM_SIMSVG_H

#include "dev/output.h"
#include "gc/sim/run/simrun.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"
#include "out/segmap.h"

/* The data to draw of one run. */
struct simsvg_run {
	char name[SIMPLAN_NAME];
	struct simrun_sample *samples;
	size_t nsamples;
	struct segmap *map;
};

/* Copies the segments of RUN, and takes over its samples.  -ENOMEM. */
int simsvg_take(struct simsvg_run *s, struct context *cx, struct simrun *run);
void simsvg_free(struct simsvg_run *s);	/* accepts one that is all zero */

#define SIMSVG_PLOTS_MAX 64u

/* The number of plots of a sweep by PLAN. */
size_t simsvg_count_plots(const struct simplan *plan);

/*
 * Draws the results ROWS of PLAN to PATH.  With the data RUNS of all runs: the curves of
 * clean segments and write amplification by blocks of the user, and the segments of
 * each run at its end.  If RUNS is NULL, a sweep: the mean write amplification of the
 * runs that differ by seed, and the interval of 95 % if there are several.
 *
 * Runs without a result are left out; if no run has one nothing is written and *DRAWN
 * is false.  Fails as outfile_open() with HOW.
 */
int simsvg_write(struct context *cx, const char *path,
		 const struct output_how *how, const struct simplan *plan,
		 const struct simrow *rows, const struct simsvg_run *runs,
		 bool *drawn);

#endif
