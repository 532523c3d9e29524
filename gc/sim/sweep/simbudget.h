/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the runs of a plan have the memory that they take. */
#ifndef NILFS2_GC_SIM_SIMBUDGET_H
#define NILFS2_GC_SIM_SIMBUDGET_H

#include "gc/sim/run/simsetup.h"
#include "gc/sim/sweep/simplan.h"

/*
 * Whether INPUT, the results, and those runs of PLAN that take most, as many as
 * CX has workers, are within CX's memory budget together.  -ENOMEM with what they
 * take, and which options make it less.
 */
int simbudget_check(struct context *cx, const struct simplan *plan,
		    const struct siminput *input);

#endif
