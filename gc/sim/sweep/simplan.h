/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan: the list of runs.
 *
 * Runs are numbered: the first axis changes slowest, then the other axes, the
 * volume of a trace, the policy, and the seed fastest.
 */
#ifndef NILFS2_GC_SIM_SIMPLAN_H
#define NILFS2_GC_SIM_SIMPLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "cli/option.h"
#include "gc/sim/run/simoptions.h"
#include "gc/sim/trace/simtrace.h"
#include "gc/sim/volume/simchoice.h"

#define SIMPLAN_ITEMS_MAX 100000u

/* The values of one option in a sweep. */
struct simaxis {
	char *name;		/* of the option */
	char **items;		/* its arguments, in order */
	size_t count, room;
};

/*
 * Parses "NAME=LIST".  LIST has words separated by commas; one of the form
 * FIRST:LAST or FIRST:LAST:STEP, of decimal numbers with the same letters after
 * each, stands for all numbers FIRST, FIRST + STEP, ... up to LAST.  -EINVAL
 * with the failure text, -ENOMEM; to be freed also then.
 */
int simplan_axis_parse(struct simaxis *a, struct context *cx,
		       const char *text);

void simplan_axis_free(struct simaxis *a);

#define SIMPLAN_AXES_MAX 16u

struct simplan {
	const struct simoptions *options;	/* borrowed */
	const struct simtrace *trace;		/* borrowed, or NULL */
	struct simaxis axes[SIMPLAN_AXES_MAX];
	const struct cli_option *rows[SIMPLAN_AXES_MAX];
	size_t naxes;
	struct simaxis names;		/* of the policies */
	struct simchoice_policy *policies;
	bool has_all;			/* "all" was used: some may not apply */
	size_t npolicies, nvolumes, nseeds, nruns;
};

/* One run. */
struct simplan_run {
	struct simoptions options;	/* texts belong to the plan */
	const struct simchoice_policy *policy;
	size_t volume;			/* index among the chosen ones of the trace */
	const char *volume_name;	/* NULL: no volume was requested */
	const char *values[SIMPLAN_AXES_MAX];	/* of the axes */
};

#define SIMPLAN_NAME 512

/*
 * The name of RUN, with the parameters by which runs of P differ: "fill 90,
 * greedy, seed 2".
 */
void simplan_name(const struct simplan *p, const struct simplan_run *run,
		  char name[SIMPLAN_NAME]);

/*
 * Reads the axes and policies of OPTIONS.  -EINVAL if they are wrong, which is
 * a usage error; -ENOMEM.  To be closed also then.
 */
int simplan_open(struct simplan *p, struct context *cx,
		 const struct simoptions *options);
void simplan_close(struct simplan *p);

/* Adds runs for each chosen volume of TRACE. */
void simplan_set_trace(struct simplan *p, const struct simtrace *trace);

/* Run number I.  -EINVAL if an axis has a value that its option refuses. */
int simplan_run(const struct simplan *p, struct context *cx, size_t i,
		struct simplan_run *run);

/* Whether there are more runs than one for each policy. */
bool simplan_is_sweep(const struct simplan *p);

#endif
