/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports: the results of all runs, and details of a single one. */
#ifndef NILFS2_GC_SIM_SIMREPORT_H
#define NILFS2_GC_SIM_SIMREPORT_H

#include "gc/sim/run/simrun.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"
#include "gc/sim/trace/simtrace.h"
#include "out/report.h"

/*
 * Prints the ROWS of all runs of PLAN, on IMAGE (its name, or NULL): tables, or
 * with --csv one of comma-separated values.  -ENOMEM.
 */
int simreport_runs(struct report *r, struct context *cx,
		   const struct simplan *plan, const struct simrow *rows,
		   const char *image);

/* Prints the counts of a trace. */
void simreport_trace(struct report *r, const struct simtrace *t);

/* Prints free space and written blocks over the course of the run. */
void simreport_curve(struct report *r, const struct simrun *run,
		     const char *policy);

/* Prints how many segments were cleaned how often. */
void simreport_wear(struct report *r, const struct simrun *run);

#endif
