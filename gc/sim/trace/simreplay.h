/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stored steps of a trace, which can be replayed repeatedly and concurrently.
 */
#ifndef NILFS2_GC_SIM_SIMREPLAY_H
#define NILFS2_GC_SIM_SIMREPLAY_H

#include "gc/sim/trace/simtrace.h"
#include "gc/sim/writers/simop.h"

/* Maximum numbers of a step, which are on one page. */
#define SIMREPLAY_NUMBERS 5u

/* Adds N NUMBERS.  -ENOMEM, also if no temporary file can be created. */
int simreplay_keep(struct simspool *s, struct simspool_stream *t,
		   struct context *cx, const uint64_t *numbers, unsigned int n);

/* The steps of one volume.  Any number of these may read the same trace. */
struct simreplay {
	const struct simtrace *trace;
	const struct simspool_stream *steps;
	uint8_t *page;		/* of the steps */
	size_t at, end, next;	/* positions in it; number of the next page */
	uint64_t slot, time;
};

/*
 * Starts at the first step of the VOLUME-th chosen volume of T; T stays open.
 * -ENOMEM; to be closed also then.
 */
int simreplay_open(struct simreplay *c, struct context *cx,
		   const struct simtrace *t, size_t volume);
void simreplay_close(struct simreplay *c);

/* The next step: 1, or 0 at the end; -ENOMEM if it cannot be read. */
int simreplay_next(struct simreplay *c, struct context *cx, struct simop *op);

#endif
