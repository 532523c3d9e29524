// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Workloads.
 *
 * All begin by writing each block once, to fill the volume.  Files are extents
 * of equal length that are deleted and written again as a whole: with
 * memoryless, thus exponential, lifetimes any hot file may be the next.
 */
#include "gc/sim/writers/simwork.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"

static void write_one(struct simop *op, uint64_t block)
{
	*op = (struct simop){ SIMOP_WRITE, block, 1 };
}

static void next_uniform(struct simwork *w, struct simop *op)
{
	write_one(op, simrandom_below(&w->random, w->config.data));
}

static void next_hot_cold(struct simwork *w, struct simop *op)
{
	const struct simwork_config *c = &w->config;
	uint64_t n = c->file_blocks, hot = c->hot / n;
	uint64_t cold = (c->data - c->hot) / n;

	*op = (struct simop){ .kind = SIMOP_WRITE, .count = n };
	if (simrandom_below(&w->random, 100) < c->hot_writes)
		op->block = simrandom_below(&w->random, hot) * n;
	else
		op->block = c->hot + simrandom_below(&w->random, cold) * n;
}

/* The most popular block is the first one. */
static void next_zipf(struct simwork *w, struct simop *op)
{
	write_one(op, simdist_zipf_next(&w->zipf, &w->random) - 1);
}

/* The same for the hot blocks; all others are equal. */
static void next_bounded(struct simwork *w, struct simop *op)
{
	const struct simwork_config *c = &w->config;

	if (simrandom_below(&w->random, 100) < c->hot_writes)
		next_zipf(w, op);
	else
		write_one(op, c->hot + simrandom_below(&w->random,
						       c->data - c->hot));
}

static void next_sequential(struct simwork *w, struct simop *op)
{
	write_one(op, w->at);
	w->at = (w->at + 1) % w->config.data;
}

static void next_mixed(struct simwork *w, struct simop *op)
{
	if (simrandom_below(&w->random, 100) < w->config.sequential)
		next_sequential(w, op);
	else
		next_uniform(w, op);
}

/*
 * Files that are created and deleted, with sizes and lifetimes.
 *
 * A file takes the next free blocks at any position.  It is deleted, and its
 * blocks trimmed, when its lifetime is over, counted in blocks written since,
 * or earlier if room is needed and no other file ends sooner.
 *
 * Memory is four bytes and a bit per block: a bitmap of used ones, and the next
 * block of the same file.  Files are in a heap by the end of their lifetime.
 */

#define NONE UINT32_MAX

/* A file that exists. */
struct lasting {
	uint64_t end;		/* end of its lifetime, in blocks written */
	uint32_t first;		/* block; the others are in the chain */
};

struct simwork_files {
	struct bitmap used;
	uint32_t *chain;	/* by block: the next one of the file, or NONE */
	struct lasting *heap;	/* the file that ends first is on top */
	size_t nfiles;
	uint64_t data, free;	/* blocks */
	uint64_t cursor;	/* start of the next search for free blocks */
	uint64_t written;	/* blocks so far */
	uint64_t wanted;	/* blocks that the new file still needs */
	uint32_t first, last;	/* of the new file, or NONE */
	uint32_t doomed;	/* next block of the file being deleted */
};

/* Takes adjacent free blocks, up to the number needed. */
static void take_blocks(struct simwork_files *f, struct simop *op)
{
	uint64_t from = bitmap_next_clear(&f->used, f->cursor), at;

	if (from == f->data)
		from = bitmap_next_clear(&f->used, 0);
	for (at = from; at < f->data && f->wanted && !bitmap_test(&f->used, at);
	     at++) {
		bitmap_set(&f->used, at);
		if (f->last == NONE)
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

/* Adds the new file, which is complete. */
static void end_file(struct simwork *w)
{
	struct simwork_files *f = w->files;
	struct lasting *heap = f->heap;
	uint64_t end = f->written + simdist_next(&w->config.lifetime,
						 &w->random, UINT64_MAX / 4);
	size_t i;

	for (i = f->nfiles++; i && end < heap[(i - 1) / 2].end; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = (struct lasting){ end, f->first };
	f->chain[f->last] = NONE;
	f->first = f->last = NONE;
}

/* Writes or trims a part of a file. */
static void next_lifetimes(struct simwork *w, struct simop *op)
{
	struct simwork_files *f = w->files;
	struct lasting *heap = f->heap, moved;
	uint64_t from, at;
	size_t i = 0, child;

	/* A new file, once enough blocks are free. */
	if (!f->wanted)
		f->wanted = simdist_next(&w->config.size, &w->random, f->data);
	if (f->doomed == NONE && f->last == NONE && f->nfiles &&
	    (f->wanted > f->free || heap[0].end <= f->written)) {
		/* Remove the file that ends first from the heap. */
		f->doomed = heap[0].first;
		moved = heap[--f->nfiles];
		while ((child = 2 * i + 1) < f->nfiles) {
			if (child + 1 < f->nfiles &&
			    heap[child + 1].end < heap[child].end)
				child++;
			if (moved.end <= heap[child].end)
				break;
			heap[i] = heap[child];
			i = child;
		}
		heap[i] = moved;
	}
	if (f->doomed == NONE) {
		take_blocks(f, op);
		if (!f->wanted)
			end_file(w);
		return;
	}
	from = at = f->doomed;
	do {
		bitmap_clear(&f->used, at);
		f->doomed = f->chain[at++];
	} while (f->doomed == at);
	f->free += at - from;
	*op = (struct simop){ SIMOP_TRIM, from, at - from, 0 };
}

/* Deletes one of the hot files, then makes it again. */
static void next_files(struct simwork *w, struct simop *op)
{
	const struct simwork_config *c = &w->config;
	uint64_t files = c->hot / c->file_blocks;

	if (!w->deleted)
		w->at = simrandom_below(&w->random, files) * c->file_blocks;
	*op = (struct simop){ w->deleted ? SIMOP_WRITE : SIMOP_TRIM, w->at,
			      c->file_blocks };
	w->deleted = !w->deleted;
}

const struct simwork_kind simwork_list[] = {
	{ "uniform", "single blocks, equally distributed",
	  .next = next_uniform },
	{ "hot-cold", "most writes go to the hot share",
	  .next = next_hot_cold },
	{ "zipf", "single blocks, by Zipf's distribution", .next = next_zipf },
	{ "bounded-zipf", "the same among hot blocks, the others are equal",
	  .next = next_bounded },
	{ "sequential", "from the first block to the last, repeatedly",
	  .next = next_sequential },
	{ "mixed", "some of them in sequence, the others anywhere",
	  .next = next_mixed },
	{ "files", "hot files are deleted and created",
	  .next = next_files, .mixed = true },
	{ "rewrite", "files until it is full, then single blocks of them",
	  .next = next_uniform, .mixed = true },
	{ "lifetimes", "files are created with a size and a lifetime",
	  .next = next_lifetimes, .lives = true },
};

#define KINDS (sizeof(simwork_list) / sizeof(simwork_list[0]))

const char *simwork_word(size_t i)
{
	return i < KINDS ? simwork_list[i].name : NULL;
}

const struct simwork_kind *simwork_find(const char *name)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		if (!strcmp(simwork_list[i].name, name))
			return &simwork_list[i];
	return NULL;
}

int simwork_open(struct simwork *w, struct context *cx,
		 const struct simwork_config *config)
{
	const struct simwork_config *c = config;
	const struct simwork_kind *k = c->kind;
	struct simwork_files *f;
	uint64_t n, i, j;
	uint32_t file;
	int err;

	*w = (struct simwork){ .config = *c, .random.state = c->seed };
	if (!c->file_blocks || c->data < c->file_blocks)
		return fail(cx, -EINVAL, "workload: no whole file fits");
	if ((k->next == next_hot_cold &&
	     (c->hot < c->file_blocks || c->data < c->hot + c->file_blocks ||
	      c->hot_writes > 100)) ||
	    (k->next == next_bounded && (!c->hot || c->hot == c->data)))
		return fail(cx, -EINVAL, "workload: all or nothing is hot");
	if (k->next == next_files && c->hot < c->file_blocks)
		return fail(cx, -EINVAL, "workload: no file is hot");
	w->fills = k->lives ? 0 : k->mixed ? c->data / c->file_blocks : c->data;
	simdist_zipf_init(&w->zipf, k->next == next_bounded ? c->hot : c->data,
			  c->skew);
	if (k->lives) {
		f = w->files = calloc(1, sizeof(*f));
		if (!f)
			return fail(cx, -ENOMEM, "workload");
		f->data = f->free = c->data;
		f->first = f->last = f->doomed = NONE;
		err = bitmap_init(&f->used, cx, c->data);
		f->chain = malloc(c->data * sizeof(*f->chain));
		/*
		 * Files may have a single block each; unused memory is not
		 * touched.
		 */
		f->heap = malloc(c->data * sizeof(*f->heap));
		if (err || !f->chain || !f->heap)
			return fail(cx, -ENOMEM, "workload");
	}
	if (!k->mixed)
		return 0;
	/* All files, each once: Fisher-Yates shuffle. */
	n = c->data / c->file_blocks;
	if (n > UINT32_MAX)
		return fail(cx, -EINVAL, "workload: too many files");
	w->order = malloc(n * sizeof(*w->order));
	if (!w->order)
		return fail(cx, -ENOMEM, "workload");
	for (i = 0; i < n; i++)
		w->order[i] = (uint32_t)i;
	for (i = n; i > 1; i--) {
		j = simrandom_below(&w->random, i);
		file = w->order[i - 1];
		w->order[i - 1] = w->order[j];
		w->order[j] = file;
	}
	return 0;
}

void simwork_close(struct simwork *w)
{
	if (w->files) {
		bitmap_fini(&w->files->used);
		free(w->files->chain);
		free(w->files->heap);
	}
	free(w->files);
	w->files = NULL;
	free(w->order);
	w->order = NULL;
}

void simwork_skip(struct simwork *w)
{
	struct simwork_files *f = w->files;
	struct simop op;

	w->filled = w->fills;
	/* All blocks belong to files. */
	while (f && f->free) {
		f->wanted = simdist_next(&w->config.size, &w->random, f->free);
		while (f->wanted)
			take_blocks(f, &op);
		end_file(w);
	}
}

void simwork_next(struct simwork *w, struct simop *op)
{
	const struct simwork_config *c = &w->config;

	if (w->filled != w->fills) {
		if (!w->order)
			write_one(op, w->filled);
		else
			*op = (struct simop){
				SIMOP_WRITE,
				(uint64_t)w->order[w->filled] * c->file_blocks,
				c->file_blocks,
			};
		w->filled++;
		return;
	}
	c->kind->next(w, op);
	/* Some of the blocks are trimmed instead of written. */
	if (c->trims && !c->kind->mixed && !c->kind->lives &&
	    op->kind == SIMOP_WRITE &&
	    simrandom_below(&w->random, 100) < c->trims)
		op->kind = SIMOP_TRIM;
}
