/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of a trace are kept to be replayed, several times and at the same
 * time.
 */
#ifndef NILFS2_GC_SIM_SIMREPLAY_H
#define NILFS2_GC_SIM_SIMREPLAY_H

#include "gc/sim/trace/simtrace.h"
#include "gc/sim/writers/simop.h"

/* Numbers that are stored together are on one page: at most this many. */
#define SIMREPLAY_NUMBERS 5u

/* Adds N NUMBERS.  -ENOMEM, also where no temporary file can be had. */
int simreplay_keep(struct simspool *s, struct simspool_stream *t,
		   struct context *cx, const uint64_t *numbers, unsigned int n);

/* The steps of one volume.  Any number of these may read the same trace. */
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
