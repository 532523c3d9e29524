/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of runs that were done elsewhere. */
#ifndef NILFS2_GC_SIM_SIMMERGE_H
#define NILFS2_GC_SIM_SIMMERGE_H

#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"

struct simmerge {
	struct simrow *rows;	/* room for each run, all zero at first */
	char *image;		/* as the results name it, or NULL; owned by
				   the caller */
	uint64_t others;	/* results of other runs, which are ignored */
};

/*
 * Reads the results of the runs of PLAN from COUNT files, where "-" is standard
 * input.  A run of which there is none has an error in its row.  -EINVAL where
 * results are damaged, or differ for one run; -ENOMEM, -EINTR, or what the system
 * says.
 */
int simmerge_read(struct simmerge *m, struct context *cx,
		  const struct simplan *plan, char *const *paths, int count);

#endif
