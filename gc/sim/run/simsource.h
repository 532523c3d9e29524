/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user of a run does: a workload or a trace. */
#ifndef NILFS2_GC_SIM_SIMSOURCE_H
#define NILFS2_GC_SIM_SIMSOURCE_H

#include <stdint.h>

#include "base/context.h"
#include "gc/sim/trace/simreplay.h"
#include "gc/sim/writers/simop.h"
#include "gc/sim/writers/simwork.h"

struct simsource {
	struct simwork work;	/* unless there is a trace */
	struct simreplay replay;
	const struct simtrace *trace;	/* or NULL */
	/* Blocks of the trace from OLD on come after PAST others. */
	uint64_t old, past;
	struct simop rest;	/* of an operation on both */
};

/* -ENOMEM, -EINVAL; to be closed also then. */
int simsource_open_work(struct simsource *s, struct context *cx,
			const struct simwork_config *config);
int simsource_open_trace(struct simsource *s, struct context *cx,
			 const struct simtrace *trace, size_t volume);
void simsource_close(struct simsource *s);

/* The next operation: 1, or 0 at the end of a trace; -ENOMEM. */
int simsource_next(struct simsource *s, struct context *cx, struct simop *op);

#endif
