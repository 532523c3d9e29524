/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of runs, as tables. */
#ifndef NILFS2_GC_SIM_SIMREPORT_H
#define NILFS2_GC_SIM_SIMREPORT_H

#include "gc/sim/simrun.h"
#include "out/report.h"
#include "out/table.h"

/* What is kept of a run, for a row. */
struct simreport_row {
	const char *policy;
	struct simvol_totals totals;
	uint64_t asked, written;
	uint32_t wear_least, wear_most;
	uint64_t wear_sum;	/* over all segments */
	uint32_t nsegments, clean, starved;
};

/* Takes it from RUN. */
void simreport_take(struct simreport_row *row, const struct simrun *run,
		    const char *policy);

/* The tables, a row for each of N runs. */
void simreport_put(struct report *r, const struct simreport_row *rows,
		   size_t n);

/* How many segments were made clean how often. */
void simreport_wear(struct report *r, const struct simrun *run);

/* Free space and blocks written, as the run went on. */
void simreport_curve(struct report *r, const struct simrun *run,
		     const char *policy);

#endif
