// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The user.
 *
 * On an image, the first blocks of a trace are those of hot files, and the
 * others come after all that the image has.
 */
#include "gc/sim/run/simsource.h"

int simsource_open_work(struct simsource *s, struct context *cx,
			const struct simwork_config *config)
{
	*s = (struct simsource){ .old = UINT64_MAX };
	return simwork_open(&s->work, cx, config);
}

int simsource_open_trace(struct simsource *s, struct context *cx,
			 const struct simtrace *trace, size_t volume)
{
	*s = (struct simsource){ .trace = trace, .old = UINT64_MAX };
	return simreplay_open(&s->replay, cx, trace, volume);
}

void simsource_close(struct simsource *s)
{
	simwork_close(&s->work);
	simreplay_close(&s->replay);
}

static int next_of_trace(struct simsource *s, struct context *cx,
			 struct simop *op)
{
	int ret;

	if (s->rest.count) {
		*op = s->rest;
		s->rest.count = 0;
		return 1;
	}
	ret = simreplay_next(&s->replay, cx, op);
	if (ret <= 0 || op->kind == SIMOP_SYNC)
		return ret;
	if (op->block >= s->old) {
		op->block += s->past;
	} else if (op->count > s->old - op->block) {
		s->rest = *op;
		op->count = s->old - op->block;
		s->rest.count -= op->count;
		s->rest.block = s->old + s->past;
	}
	return 1;
}

int simsource_next(struct simsource *s, struct context *cx, struct simop *op)
{
	if (s->trace)
		return next_of_trace(s, cx, op);
	simwork_next(&s->work, op);
	return 1;
}
