/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures: of the runs of all policies over time, and of a sweep. */
#ifndef NILFS2_GC_SIM_SIMSVG_H
#define NILFS2_GC_SIM_SIMSVG_H

#include "dev/output.h"
#include "gc/sim/run/simrun.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"
#include "out/picture.h"

/* What is drawn of one run. */
struct simsvg_run {
	const char *policy;		/* borrowed */
	struct simrun_sample *samples;
	size_t nsamples;
	uint32_t nsegments, blocks;	/* of a segment */
	struct picture *map;
};

/* Takes what is to be drawn of RUN, its samples from it.  -ENOMEM. */
int simsvg_take(struct simsvg_run *s, struct context *cx, struct simrun *run,
		const char *policy);
void simsvg_free(struct simsvg_run *s);	/* also of one that is all zero */

/*
 * Writes to PATH the curves of the N runs, which are at least one: clean
 * segments and write amplification over what the user wrote; and below them
 * the segments of each at its end.  Fails as outfile_open() with HOW.
 */
int simsvg_write(struct context *cx, const char *path,
		 const struct output_how *how, const struct simsvg_run *runs,
		 size_t n);

/*
 */
#define SIMSVG_PLOTS_MAX 64u

/* The plots for PLAN. */
size_t simsvg_count_plots(const struct simplan *plan);

/*
 * Writes them to PATH, with the mean of the runs that differ by seed, and the
 * interval of 95 % where there are several.  Runs without a number have no
 * point, and where none has one nothing is written and *DRAWN is false.  Fails as
 * outfile_open() with HOW.
 */
int simsvg_write_sweep(struct context *cx, const char *path,
		       const struct output_how *how,
		       const struct simplan *plan, const struct simrow *rows,
		       bool *drawn);

#endif
