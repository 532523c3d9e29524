/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether there is enough memory for the runs of a plan. */
#ifndef NILFS2_GC_SIM_SIMBUDGET_H
#define NILFS2_GC_SIM_SIMBUDGET_H

#include "gc/sim/run/simsetup.h"
#include "gc/sim/sweep/simplan.h"

/*
 * Whether INPUT, the results, and the largest runs of PLAN, as many as CX has
 * workers, fit into CX's memory budget together.  -ENOMEM with the needed
 * amount, and the options that reduce it.
 */
int simbudget_check(struct context *cx, const struct simplan *plan,
		    const struct siminput *input);

#endif
