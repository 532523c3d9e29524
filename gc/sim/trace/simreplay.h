/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of one volume of a trace, one after the other. */
#ifndef NILFS2_GC_SIM_SIMREPLAY_H
#define NILFS2_GC_SIM_SIMREPLAY_H

#include "gc/sim/trace/simtrace.h"
#include "gc/sim/writers/simop.h"

/* Any number of them may read the same trace. */
struct simreplay {
	const struct simtrace *trace;
	const struct simspool_stream *steps;
	uint8_t *page;		/* of the steps */
	size_t at, end, next;	/* in it; number of the next page */
	uint64_t slot, time;
};

/*
 * At the first step of the VOLUME-th of the volumes that T has chosen; T stays
 * open.  -ENOMEM; to be closed also then.
 */
int simreplay_open(struct simreplay *c, struct context *cx,
		   const struct simtrace *t, size_t volume);
void simreplay_close(struct simreplay *c);

/* The next step: 1, or 0 at the end; -ENOMEM where it cannot be read. */
int simreplay_next(struct simreplay *c, struct context *cx, struct simop *op);

#endif
