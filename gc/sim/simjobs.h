/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs, side by side. */
#ifndef NILFS2_GC_SIM_SIMJOBS_H
#define NILFS2_GC_SIM_SIMJOBS_H

#include "cli/tool.h"
#include "gc/sim/report/simsvg.h"
#include "gc/sim/run/simsetup.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"

struct simjobs {
	struct tool *tool;		/* borrowed, as the next two */
	const struct simplan *plan;
	const struct siminput *input;	/* shared by all of them */
	struct simrow *rows;		/* room for each run, all zero */
	struct simsvg_run *drawn;	/* the same, or NULL: none is drawn */
};

/*
 * Does all runs, on as many workers as the tool has.  Results are in the order of
 * the plan, whatever the timing; as much memory is taken as so many volumes need.
 * What a run says of itself alone, by options of the plan, it reports.  A failure
 * of a run is in its row.  -EINTR, -ENOMEM.
 */
int simjobs_run(struct simjobs *j);

#endif
