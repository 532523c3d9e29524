// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of a trace: stored, and replayed.
 *
 * Numbers are stored in groups of seven bits.  A page is written when it is
 * full; each stream has a list of its pages.  The numbers of a step are on one
 * page, and the rest of a page is zeros; a stored group never begins with a
 * zero.  When they are replayed, slots of the address map are replaced by block
 * numbers.
 */
#include "gc/sim/trace/simreplay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/tempfile.h"

#define NUMBER_MAX 10u		/* bytes of 64 bits */

int simreplay_keep(struct simspool *s, struct simspool_stream *t,
		   struct context *cx, const uint64_t *numbers, unsigned int n)
{
	int err = 0, fd = s->file - 1;
	unsigned int i;
	uint64_t v;

	if (!t->page) {
		t->page = calloc(1, SIMSPOOL_PAGE);
		if (!t->page)
			return fail(cx, -ENOMEM, "trace");
	}
	if (t->used + n * NUMBER_MAX > SIMSPOOL_PAGE) {
		if (fd < 0)
			err = tempfile_open(cx, &fd);
		s->file = fd + 1;
		if (!err)
			err = array_reserve(cx, &t->pages, &t->room,
					    t->npages + 1);
		if (!err)
			err = tempfile_write(cx, fd, (uint64_t)s->pages *
					     SIMSPOOL_PAGE, t->page,
					     SIMSPOOL_PAGE);
		if (err)
			return err;
		t->pages[t->npages++] = s->pages++;
		t->used = 0;
		memset(t->page, 0, SIMSPOOL_PAGE);
	}
	for (i = 0; i < n; i++) {
		for (v = numbers[i]; v >= 0x80; v >>= 7)
			t->page[t->used++] = (uint8_t)(v | 0x80);
		t->page[t->used++] = (uint8_t)v;
	}
	return 0;
}

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

int simreplay_next(struct simreplay *c, struct context *cx, struct simop *op)
{
	const struct simtrace *t = c->trace;
	const struct simspool_stream *steps = c->steps;
	uint64_t bs = t->config.block_size, tag, stored, offset, end;
	uint64_t first, last;
	uint32_t file;
	int err;

	for (;;) {
		/* The rest of a page is zeros. */
		while (c->at == c->end || !c->page[c->at]) {
			if (c->next > steps->npages || !steps->page)
				return 0;
			c->at = 0;
			c->end = SIMSPOOL_PAGE;
			if (c->next < steps->npages) {
				err = tempfile_read(cx, t->spool.file - 1,
					(uint64_t)steps->pages[c->next] *
						SIMSPOOL_PAGE,
					c->page, SIMSPOOL_PAGE);
				if (err)
					return err;
			} else {
				memcpy(c->page, steps->page, steps->used);
				c->end = steps->used;
			}
			c->next++;
		}
		tag = next_number(c);
		c->time += next_number(c);
		*op = (struct simop){
			.kind = (enum simop_kind)((tag & 3) - 1),
			.count = tag >> 2,
			.time = c->time,
		};
		if (op->kind == SIMOP_SYNC)
			return 1;
		if (op->kind == SIMOP_WRITE) {
			/* A difference of either sign. */
			stored = next_number(c);
			c->slot += stored >> 1 ^ (0 - (stored & 1));
			op->block = simaddress_block(&t->addresses, c->slot,
						     t->config.raw);
			c->slot += op->count;
		} else {
			/*
			 * Only written blocks that are covered completely; up
			 * to the end a partial block counts as complete.
			 */
			file = (uint32_t)next_number(c);
			offset = next_number(c);
			end = offset + next_number(c);
			first = div_round_up(offset, bs);
			last = end >= t->extents[file].end ?
				       div_round_up(end, bs) : end / bs;
			op->count = 0;
			if (first < last)
				simaddress_range(&t->addresses, file, first,
						 last, t->config.raw,
						 &op->block, &op->count);
		}
		if (op->count)
			return 1;
	}
}
