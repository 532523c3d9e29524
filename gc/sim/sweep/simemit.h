/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs as command lines, for other machines. */
#ifndef NILFS2_GC_SIM_SIMEMIT_H
#define NILFS2_GC_SIM_SIMEMIT_H

#include <stdint.h>

#include "gc/sim/sweep/simparam.h"
#include "gc/sim/sweep/simplan.h"
#include "out/report.h"
#include "out/table.h"

/* Sixteen digits and a NUL. */
#define SIMEMIT_KEY 17

/*
 * What identifies RUN, on IMAGE (its name, or NULL): a hash of the version and of
 * all parameters.  It is the same wherever the run is done.
 */
uint64_t simemit_key(const struct simplan_run *run, const char *image);

void simemit_key_text(uint64_t key, char text[SIMPARAM_TEXT]);

/*
 * Reports a command for each run of PLAN, in its order, which prints the result
 * as JSON lines.  -ENOMEM.
 */
int simemit_commands(struct report *r, struct context *cx,
		     const struct simplan *plan, const char *image);

#endif
