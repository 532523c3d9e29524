// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaying a trace.
 *
 * The steps that simtrace.c has kept, with places in the map of addresses
 * replaced by numbers of blocks.
 */
#include "gc/sim/trace/simreplay.h"

#include "base/checked.h"

int simreplay_open(struct simreplay *c, struct context *cx,
		   const struct simtrace *t, size_t volume)
{
	*c = (struct simreplay){ .trace = t };
	return simspool_rewind(&t->spool, &simtrace_volume(t, volume)->steps,
			       cx, &c->steps);
}

void simreplay_close(struct simreplay *c)
{
	simspool_close(&c->steps);
}

static void next_write(struct simreplay *c, struct simop *op)
{
	const struct simtrace *t = c->trace;

	c->slot += simspool_difference(simspool_get(&c->steps));
	op->block = simaddress_block(&t->addresses, c->slot, t->config.raw);
	c->slot += op->count;
}

/* Whole blocks that are ever written; up to the end a part is whole. */
static void next_trim(struct simreplay *c, struct simop *op)
{
	const struct simtrace *t = c->trace;
	uint32_t file = (uint32_t)simspool_get(&c->steps);
	uint64_t offset = simspool_get(&c->steps);
	uint64_t end = offset + simspool_get(&c->steps);
	uint64_t bs = t->config.block_size, first = div_round_up(offset, bs);
	uint64_t last = end / bs;

	if (end >= t->extents[file].end)
		last = div_round_up(end, bs);
	op->count = 0;
	if (first < last)
		simaddress_range(&t->addresses, file, first, last,
				 t->config.raw, &op->block, &op->count);
}

int simreplay_next(struct simreplay *c, struct context *cx, struct simop *op)
{
	uint64_t tag;
	int ret;

	while ((ret = simspool_more(&c->steps, cx)) > 0) {
		tag = simspool_get(&c->steps);
		c->time += simspool_get(&c->steps);
		*op = (struct simop){
			.kind = (enum simop_kind)((tag & 3) - 1),
			.count = tag >> 2,
			.time = c->time,
		};
		if (op->kind == SIMOP_SYNC)
			return 1;
		if (op->kind == SIMOP_WRITE)
			next_write(c, op);
		else
			next_trim(c, op);
		if (op->count)
			return 1;
	}
	return ret;
}
