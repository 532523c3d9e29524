/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is reported: the results of all runs, and more of a single one. */
#ifndef NILFS2_GC_SIM_SIMREPORT_H
#define NILFS2_GC_SIM_SIMREPORT_H

#include "gc/sim/run/simrun.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"
#include "gc/sim/trace/simtrace.h"
#include "out/report.h"

/*
 * The ROWS of all runs of PLAN, on IMAGE (its name, or NULL): tables, or with
 * --csv one of comma-separated values.  -ENOMEM.
 */
int simreport_runs(struct report *r, struct context *cx,
		   const struct simplan *plan, const struct simrow *rows,
		   const char *image);

/* What was found in a trace. */
void simreport_trace(struct report *r, const struct simtrace *t);

/* Free space and blocks written, as the run went on. */
void simreport_curve(struct report *r, const struct simrun *run,
		     const char *policy);

/* How many segments were made clean how often. */
void simreport_wear(struct report *r, const struct simrun *run);

#endif
