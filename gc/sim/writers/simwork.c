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

/* The same of the hot blocks; all others are equal. */
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

static void next_lifetimes(struct simwork *w, struct simop *op)
{
	simfiles_next(&w->files, &w->random, op);
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

/* Overwrites one block of a file that stays. */
static void next_rewrite(struct simwork *w, struct simop *op)
{
	next_uniform(w, op);
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
	  .next = next_rewrite, .mixed = true },
	{ "lifetimes", "files are created with a size and a lifetime",
	  .next = next_lifetimes, .lives = true },
};

const size_t simwork_count = sizeof(simwork_list) / sizeof(simwork_list[0]);

const char *simwork_word(size_t i)
{
	return i < simwork_count ? simwork_list[i].name : NULL;
}

const struct simwork_kind *simwork_find(const char *name)
{
	size_t i;

	for (i = 0; i < simwork_count; i++)
		if (!strcmp(simwork_list[i].name, name))
			return &simwork_list[i];
	return NULL;
}

static int check_work_config(struct context *cx, const struct simwork_config *c)
{
	if (!c->file_blocks || c->data < c->file_blocks)
		return fail(cx, -EINVAL, "workload: no whole file fits");
	if (c->kind->next == next_hot_cold &&
	    (c->hot < c->file_blocks || c->data < c->hot + c->file_blocks ||
	     c->hot_writes > 100))
		return fail(cx, -EINVAL, "workload: all or nothing is hot");
	if (c->kind->next == next_bounded && (!c->hot || c->hot == c->data))
		return fail(cx, -EINVAL, "workload: all or nothing is hot");
	if (c->kind->next == next_files && c->hot < c->file_blocks)
		return fail(cx, -EINVAL, "workload: no file is hot");
	return 0;
}

static uint64_t files_of(const struct simwork *w)
{
	return w->config.data / w->config.file_blocks;
}

/* All files, each once, as Fisher and Yates shuffle. */
static int shuffle(struct simwork *w, struct context *cx)
{
	uint64_t n = files_of(w), i, j;
	uint32_t file;

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

int simwork_open(struct simwork *w, struct context *cx,
		 const struct simwork_config *config)
{
	int ret;

	*w = (struct simwork){ .config = *config,
			       .random.state = config->seed };
	ret = check_work_config(cx, config);
	simdist_zipf_init(&w->zipf, config->kind->next == next_bounded ?
				    config->hot : config->data, config->skew);
	if (!ret && config->kind->lives)
		ret = simfiles_open(&w->files, cx, config->data, &config->size,
				    &config->lifetime);
	if (!ret && config->kind->mixed)
		ret = shuffle(w, cx);
	return ret;
}

void simwork_close(struct simwork *w)
{
	simfiles_close(&w->files);
	free(w->order);
	w->order = NULL;
}

/* Steps of the first pass. */
static uint64_t steps_to_fill(const struct simwork *w)
{
	if (w->config.kind->lives)
		return 0;
	return w->config.kind->mixed ? files_of(w) : w->config.data;
}

/* Whether all data has been written once. */
static bool simwork_is_filled(const struct simwork *w)
{
	return w->filled == steps_to_fill(w);
}

void simwork_skip(struct simwork *w)
{
	w->filled = steps_to_fill(w);
	if (w->config.kind->lives)
		simfiles_fill(&w->files, &w->random);
}

/* Some of the blocks are trimmed in place of being written. */
static void trim_some(struct simwork *w, struct simop *op)
{
	uint32_t trims = w->config.trims;

	if (trims && op->kind == SIMOP_WRITE &&
	    simrandom_below(&w->random, 100) < trims)
		op->kind = SIMOP_TRIM;
}

static void next_filling(struct simwork *w, struct simop *op)
{
	uint64_t n = w->filled++;

	if (!w->order) {
		write_one(op, n);
		return;
	}
	op->kind = SIMOP_WRITE;
	op->block = (uint64_t)w->order[n] * w->config.file_blocks;
	op->count = w->config.file_blocks;
}

void simwork_next(struct simwork *w, struct simop *op)
{
	if (!simwork_is_filled(w)) {
		next_filling(w, op);
		return;
	}
	w->config.kind->next(w, op);
	if (!w->config.kind->mixed && !w->config.kind->lives)
		trim_some(w, op);
}
