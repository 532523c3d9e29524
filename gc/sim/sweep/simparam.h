/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that determine the result of a run, as values to be printed, and as
 * command lines for other machines.
 */
#ifndef NILFS2_GC_SIM_SIMPARAM_H
#define NILFS2_GC_SIM_SIMPARAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "gc/sim/run/simoptions.h"
#include "gc/sim/sweep/simplan.h"
#include "out/report.h"
#include "out/value.h"

#define SIMPARAM_TEXT 512

/*
 * Whether ROW of simoptions_rows is a parameter: not options of the output, nor
 * policies and volumes, of which each run has one.
 */
bool simparam_is(const struct cli_option *row);

enum value_kind simparam_kind(const struct cli_option *row);

/*
 * The value of ROW in O; absent if it is not given and the default is not a
 * number.  Bytes are those of O or in TEXT.
 */
struct value simparam_value(const struct cli_option *row,
			    const struct simoptions *o,
			    char text[SIMPARAM_TEXT]);

/* The same as the argument of the option ROW, or NULL. */
const char *simparam_argument(const struct cli_option *row,
			      const struct simoptions *o,
			      char text[SIMPARAM_TEXT]);

/*
 * The key of RUN, on IMAGE (its name, or NULL): a hash of the version and of
 * all parameters.  It is the same on every machine.
 */
uint64_t simparam_key(const struct simplan_run *run, const char *image);

void simparam_key_text(uint64_t key, char text[SIMPARAM_TEXT]);

/*
 * Prints a command for each run of PLAN, in its order.  The command prints the
 * result as JSON lines.  -ENOMEM.
 */
int simemit_commands(struct report *r, struct context *cx,
		     const struct simplan *plan, const char *image);

#endif
