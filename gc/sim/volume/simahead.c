// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The future of a run.
 *
 * The operations are gone through once before the run.  Four bytes are kept for
 * each block that is written.
 */
#include "gc/sim/volume/simahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/volume/simplace.h"

int simahead_open(struct simahead *a, struct context *cx, uint64_t blocks)
{
	size_t bytes = blocks * sizeof(*a->latest);

	*a = (struct simahead){ .blocks = blocks };
	a->latest = malloc(bytes);
	a->first = malloc(bytes);
	if (!a->latest || !a->first)
		return fail(cx, -ENOMEM, "future of all blocks");
	memset(a->latest, 0xff, bytes);
	memset(a->first, 0xff, bytes);
	return 0;
}

void simahead_close(struct simahead *a)
{
	free(a->next);
	free(a->latest);
	free(a->first);
	*a = (struct simahead){ 0 };
}

/* What BLOCK was until now ends. */
static void replace_block(struct simahead *a, uint64_t block)
{
	if (a->latest[block] != SIMPLACE_NEVER)
		a->next[a->latest[block]] = (uint32_t)a->n;
	else if (a->first[block] == SIMPLACE_NEVER)
		a->first[block] = (uint32_t)a->n;
}

static int make_room(struct simahead *a)
{
	size_t room = a->room ? 2 * a->room : 0x10000;
	uint32_t *grown = realloc(a->next, room * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	a->next = grown;
	a->room = room;
	return 0;
}

static int add_write(struct simahead *a, struct context *cx, uint64_t block)
{
	if (a->n == a->room && make_room(a))
		return fail(cx, -ENOMEM, "future of all writes");
	replace_block(a, block);
	a->latest[block] = (uint32_t)a->n;
	a->next[a->n++] = SIMPLACE_NEVER;
	return 0;
}

int simahead_add(struct simahead *a, struct context *cx,
		 const struct simop *op)
{
	uint64_t i;
	int ret = 0;

	if (op->kind == SIMOP_SYNC)
		return 0;
	if (op->block > a->blocks || op->count > a->blocks - op->block)
		return fail(cx, -EINVAL, "the user reaches past the end");
	if (op->count >= SIMPLACE_NEVER - a->n)
		return fail(cx, -EINVAL, "--placement future: too many writes");
	for (i = op->block; i < op->block + op->count && !ret; i++) {
		if (op->kind == SIMOP_WRITE) {
			ret = add_write(a, cx, i);
			continue;
		}
		replace_block(a, i);
		a->latest[i] = SIMPLACE_NEVER;
	}
	return ret;
}
