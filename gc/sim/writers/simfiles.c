// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that are created and deleted.
 *
 * Four bytes and a bit a block: which of them are used, and the next one of the
 * same file.  Files are in a heap by the end of their life.
 */
#include "gc/sim/writers/simfiles.h"

#include <errno.h>
#include <stdlib.h>

int simfiles_open(struct simfiles *f, struct context *cx, uint64_t data,
		  const struct simdist *size, const struct simdist *lifetime)
{
	struct context unbound;
	int err;

	*f = (struct simfiles){
		.size = *size, .lifetime = *lifetime,
		.data = data, .free = data,
		.first = SIMFILES_NONE, .last = SIMFILES_NONE,
		.doomed = SIMFILES_NONE,
	};
	context_child(cx, &unbound);
	unbound.max_memory = UINT64_MAX;
	err = bitmap_init(&f->used, &unbound, data);
	f->chain = malloc(data * sizeof(*f->chain));
	/* Of files of a block each; what is not used takes no memory. */
	f->heap = malloc(data * sizeof(*f->heap));
	return err || !f->chain || !f->heap ? fail(cx, -ENOMEM, "workload") : 0;
}

void simfiles_close(struct simfiles *f)
{
	bitmap_fini(&f->used);
	free(f->chain);
	free(f->heap);
	*f = (struct simfiles){ 0 };
}

static void swap_files(struct simfiles *f, size_t a, size_t b)
{
	struct simfiles_file file = f->heap[a];

	f->heap[a] = f->heap[b];
	f->heap[b] = file;
}

static void push_file(struct simfiles *f, uint64_t end, uint32_t first)
{
	size_t i = f->nfiles;

	f->heap[f->nfiles++] = (struct simfiles_file){ end, first };
	for (; i && f->heap[i].end < f->heap[(i - 1) / 2].end; i = (i - 1) / 2)
		swap_files(f, i, (i - 1) / 2);
}

/* Takes the file that ends first: its first block. */
static uint32_t pop_file(struct simfiles *f)
{
	uint32_t first = f->heap[0].first;
	size_t i = 0, child;

	f->heap[0] = f->heap[--f->nfiles];
	while ((child = 2 * i + 1) < f->nfiles) {
		if (child + 1 < f->nfiles &&
		    f->heap[child + 1].end < f->heap[child].end)
			child++;
		if (f->heap[i].end <= f->heap[child].end)
			break;
		swap_files(f, i, child);
		i = child;
	}
	return first;
}

/* Free blocks next to each other, as many as are wanted or there are. */
static void take_blocks(struct simfiles *f, struct simop *op)
{
	uint64_t from = bitmap_next_clear(&f->used, f->cursor), at;

	if (from == f->data)
		from = bitmap_next_clear(&f->used, 0);
	for (at = from; at < f->data && f->wanted && !bitmap_test(&f->used, at);
	     at++) {
		bitmap_set(&f->used, at);
		if (f->last == SIMFILES_NONE)
			f->first = (uint32_t)at;
		else
			f->chain[f->last] = (uint32_t)at;
		f->last = (uint32_t)at;
		f->wanted--;
	}
	f->cursor = at == f->data ? 0 : at;
	f->free -= at - from;
	f->written += at - from;
	*op = (struct simop){ SIMOP_WRITE, from, at - from, 0 };
}

/* The new file is complete. */
static void end_file(struct simfiles *f, struct simrandom *r)
{
	uint32_t first = f->first;

	f->chain[f->last] = SIMFILES_NONE;
	f->first = f->last = SIMFILES_NONE;
	push_file(f, f->written + simdist_next(&f->lifetime, r, UINT64_MAX / 4),
		  first);
}

/* The next blocks of the file that is deleted. */
static void drop_blocks(struct simfiles *f, struct simop *op)
{
	uint64_t from = f->doomed, at = from;

	do {
		bitmap_clear(&f->used, at);
		f->doomed = f->chain[at++];
	} while (f->doomed == at);
	f->free += at - from;
	*op = (struct simop){ SIMOP_TRIM, from, at - from, 0 };
}

void simfiles_next(struct simfiles *f, struct simrandom *r, struct simop *op)
{
	/* A new file, once what it needs is free. */
	if (!f->wanted)
		f->wanted = simdist_next(&f->size, r, f->data);
	if (f->doomed == SIMFILES_NONE && f->last == SIMFILES_NONE &&
	    f->nfiles &&
	    (f->wanted > f->free || f->heap[0].end <= f->written))
		f->doomed = pop_file(f);
	if (f->doomed != SIMFILES_NONE) {
		drop_blocks(f, op);
		return;
	}
	take_blocks(f, op);
	if (!f->wanted)
		end_file(f, r);
}

void simfiles_fill(struct simfiles *f, struct simrandom *r)
{
	struct simop op;

	while (f->free) {
		f->wanted = simdist_next(&f->size, r, f->free);
		while (f->wanted)
			take_blocks(f, &op);
		end_file(f, r);
	}
}
