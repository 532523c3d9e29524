/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture of the runs of all policies. */
#ifndef NILFS2_GC_SIM_SIMSVG_H
#define NILFS2_GC_SIM_SIMSVG_H

#include "gc/sim/run/simrun.h"
#include "out/picture.h"

/* What is drawn of one run. */
struct simsvg_run {
	const char *policy;		/* borrowed */
	struct simrun_sample *samples;
	size_t nsamples;
	uint32_t nsegments, blocks;	/* of a segment */
	struct picture *map;
};

/* Takes what is to be drawn of RUN, which need not outlive it.  -ENOMEM. */
int simsvg_take(struct simsvg_run *s, struct context *cx,
		const struct simrun *run, const char *policy);
void simsvg_free(struct simsvg_run *s);	/* also of one that is all zero */

/*
 * Writes to PATH the curves of the N runs, which are at least one: clean
 * segments and write amplification over what the user wrote; and below them
 * the segments of each at its end.  Fails as outfile_open():
 * never over the file INPUT (NULL: none).
 */
int simsvg_write(struct context *cx, const char *path, const char *input,
		 const struct simsvg_run *runs, size_t n);

#endif
