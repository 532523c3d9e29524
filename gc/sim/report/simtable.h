/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of what is printed of runs: what they were asked for, and did. */
#ifndef NILFS2_GC_SIM_SIMTABLE_H
#define NILFS2_GC_SIM_SIMTABLE_H

#include "gc/sim/sweep/simparam.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"
#include "gc/sim/sweep/simstat.h"
#include "out/table.h"

#define SIMTABLE_NAME 32u

enum simtable_source {
	SIMTABLE_KEY,
	SIMTABLE_VERSION,
	SIMTABLE_IMAGE,
	SIMTABLE_VOLUME,
	SIMTABLE_POLICY,
	SIMTABLE_PARAMETER,
	SIMTABLE_WAF,
	SIMTABLE_FIELD,
	SIMTABLE_WEAR,
	SIMTABLE_NOTES,
	SIMTABLE_ERROR,
	SIMTABLE_SEEDS,
	SIMTABLE_MEAN,
	SIMTABLE_INTERVAL,
	SIMTABLE_LEAST,
	SIMTABLE_MOST,
};

/* Where the value of a column comes from. */
struct simtable_column {
	enum simtable_source source;
	const struct cli_option *option;	/* of PARAMETER */
	const struct simrow_field *field;
	char key[SIMTABLE_NAME], head[SIMTABLE_NAME];
	char text[SIMPARAM_TEXT];	/* of the value, where it needs room */
};

struct simtable {
	const struct simplan *plan;	/* borrowed */
	const char *image;		/* borrowed, or NULL */
	struct column columns[TABLE_COLUMNS_MAX];
	struct simtable_column sources[TABLE_COLUMNS_MAX];
	struct value values[TABLE_COLUMNS_MAX];
	unsigned int count;
};

/* What one line is of. */
struct simtable_line {
	const struct simplan_run *run;
	const char *volume;		/* in place of the run's, or NULL */
	const struct simrow *row;	/* NULL: of several */
	const struct simstat *stat;	/* of the runs that differ by seed, or
					   NULL */
};

/* Each run; has NOTES and ERROR in text where some line has. */
void simtable_runs(struct simtable *t, const struct simplan *plan,
		   const char *image, bool notes, bool errors);

/* The same with the mean of the runs that differ by seed only. */
void simtable_means(struct simtable *t, const struct simplan *plan,
		    const char *image);

/* Adds the columns of a mean to a table of runs. */
void simtable_add_mean(struct simtable *t);

/* Fills in the values of T. */
void simtable_fill(struct simtable *t, const struct simtable_line *line);

#endif
