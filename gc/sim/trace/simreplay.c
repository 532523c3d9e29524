// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaying a trace.
 *
 * The steps that simtrace.c has kept, with places in the map of addresses
 * replaced by numbers of blocks.
 */
#include "gc/sim/trace/simreplay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/tempfile.h"

int simreplay_open(struct simreplay *c, struct context *cx,
		   const struct simtrace *t, size_t volume)
{
	*c = (struct simreplay){
		.trace = t,
		.steps = &simtrace_volume(t, volume)->steps,
		.page = malloc(SIMSPOOL_PAGE),
	};
	return c->page ? 0 : fail(cx, -ENOMEM, "trace");
}

void simreplay_close(struct simreplay *c)
{
	free(c->page);
	c->page = NULL;
}

/* Whether there is another step: 1, or 0 at the end; -ENOMEM. */
static int has_step(struct simreplay *c, struct context *cx)
{
	const struct simspool_stream *t = c->steps;
	int err;

	while (c->at == c->end || !c->page[c->at]) {
		if (c->next > t->npages || !t->page)
			return 0;
		c->at = 0;
		c->end = SIMSPOOL_PAGE;
		if (c->next == t->npages) {
			memcpy(c->page, t->page, t->used);
			c->end = t->used;
		} else {
			err = tempfile_read(cx, c->trace->spool.file - 1,
					    (uint64_t)t->pages[c->next] *
						    SIMSPOOL_PAGE,
					    c->page, SIMSPOOL_PAGE);
			if (err)
				return err;
		}
		c->next++;
	}
	return 1;
}

/* The next number of the step; there must be one. */
static uint64_t next_number(struct simreplay *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = c->page[c->at++];
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

static void next_write(struct simreplay *c, struct simop *op)
{
	const struct simtrace *t = c->trace;
	uint64_t stored = next_number(c);

	/* See simspool_signed(). */
	c->slot += stored >> 1 ^ (0 - (stored & 1));
	op->block = simaddress_block(&t->addresses, c->slot, t->config.raw);
	c->slot += op->count;
}

/* Whole blocks that are ever written; up to the end a part is whole. */
static void next_trim(struct simreplay *c, struct simop *op)
{
	const struct simtrace *t = c->trace;
	uint32_t file = (uint32_t)next_number(c);
	uint64_t offset = next_number(c);
	uint64_t end = offset + next_number(c);
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

	while ((ret = has_step(c, cx)) > 0) {
		tag = next_number(c);
		c->time += next_number(c);
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
