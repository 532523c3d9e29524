/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that decide what a run does, as values to be printed. */
#ifndef NILFS2_GC_SIM_SIMPARAM_H
#define NILFS2_GC_SIM_SIMPARAM_H

#include <stdbool.h>

#include "cli/option.h"
#include "gc/sim/run/simoptions.h"
#include "out/value.h"

#define SIMPARAM_TEXT 512

/*
 * Whether ROW of simoptions_rows is one: not what is printed, nor policies and
 * volumes, of which each run has one.
 */
bool simparam_is(const struct cli_option *row);

/* Whether runs can have different values of it: not of what all share. */
bool simparam_may_differ(const struct cli_option *row);

enum value_kind simparam_kind(const struct cli_option *row);

/*
 * What O has; absent where it is not given and the default is no number.  Bytes
 * are those of O or in TEXT.
 */
struct value simparam_value(const struct cli_option *row,
			    const struct simoptions *o,
			    char text[SIMPARAM_TEXT]);

#endif
