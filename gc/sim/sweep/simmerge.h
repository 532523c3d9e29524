/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of runs that were done elsewhere. */
#ifndef NILFS2_GC_SIM_SIMMERGE_H
#define NILFS2_GC_SIM_SIMMERGE_H

#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"

struct simmerge {
	struct simrow *rows;	/* one for each run, all zero at first */
	char *image;		/* in the results, or NULL; the caller's */
	uint64_t others;	/* ignored results of other runs */
};

/*
 * Reads the results of the runs of PLAN from COUNT files; "-" is standard
 * input.  A run without a result has an error in its row.  -EINVAL if results
 * are damaged, or differ for one run; -ENOMEM, -EINTR, or the error of the
 * system.
 */
int simmerge_read(struct simmerge *m, struct context *cx,
		  const struct simplan *plan, char *const *paths, int count);

#endif
