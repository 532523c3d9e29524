// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A run.
 *
 * Before a block is written there must be enough clean segments for it and for
 * all dirty metadata; otherwise the cleaner runs.
 */
#include "gc/sim/run/simrun.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bitmap.h"
#include "gc/sim/volume/simvol.h"

/* Steps between two checks for cancellation. */
#define PATIENCE 0xffffu

/*
 * Dirty pages: a bit each, and where the sweep is.
 */

/* For pages 0 ... N - 1.  -ENOMEM; to be closed also then. */
static int simdirty_open(struct simdirty *d, struct context *cx, uint64_t n)
{
	*d = (struct simdirty){ 0 };
	return bitmap_init(&d->map, cx, n);
}

static void simdirty_close(struct simdirty *d)
{
	bitmap_fini(&d->map);
}

static void simdirty_add(struct simdirty *d, uint64_t page)
{
	d->count += !bitmap_test(&d->map, page);
	bitmap_set(&d->map, page);
}

static void simdirty_drop(struct simdirty *d, uint64_t page)
{
	d->count -= bitmap_test(&d->map, page);
	bitmap_clear(&d->map, page);
}

/* Takes the next one out; there must be one. */
static uint64_t simdirty_take(struct simdirty *d)
{
	uint64_t page = bitmap_next_set(&d->map, d->next);

	if (page == d->map.bits)
		page = bitmap_next_set(&d->map, 0);
	d->next = page + 1;
	simdirty_drop(d, page);
	return page;
}

int simrun_open(struct simrun *r, struct context *cx, struct simvol *v,
		struct simclean *cleaner, const struct simrun_config *config)
{
	*r = (struct simrun){
		.config = *config,
		.vol = v,
		.cleaner = cleaner,
		.next_snapshot_time = config->snapshot_time,
	};
	if (config->protect)
		simpast_protect(v, 0);
	if (!config->dirty_pages)
		return 0;
	return simdirty_open(&r->dirty, cx, v->config.data);
}

void simrun_close(struct simrun *r)
{
	simdirty_close(&r->dirty);
	free(r->samples);
	r->samples = NULL;
}

static int flush(struct simrun *r, struct context *cx)
{
	r->next_flush = r->vol->now + r->config.flush_every;
	return simmeta_flush(r->vol, cx);
}

/* One more snapshot of a checkpoint made for it. */
static int take_snapshot(struct simrun *r, struct context *cx)
{
	int ret = flush(r, cx);

	r->next_snapshot = r->vol->now + r->config.snapshot_every;
	if (!ret)
		ret = simpast_take(r->vol, cx);
	if (!ret && r->vol->nsnapshots - r->vol->nkept > r->config.snapshots)
		simpast_drop(r->vol);
	return ret;
}

/* An eighth of the protection period has passed. */
static void pass_time(struct simrun *r)
{
	uint32_t *mark = &r->marks[r->nmarks++ % SIMRUN_PERIODS];

	r->next_mark = r->vol->now + r->config.protect / SIMRUN_PERIODS;
	simpast_protect(r->vol, *mark);
	*mark = r->vol->cno;
}

static int take_sample(struct simrun *r, struct context *cx)
{
	struct simvol_totals t = simrun_totals(r);

	if (array_reserve(cx, &r->samples, &r->room, r->nsamples + 1))
		return -ENOMEM;
	r->samples[r->nsamples++] = (struct simrun_sample){
		.user = t.user,
		.written = simrun_written(&t),
		.clean = r->vol->nclean,
		.starved = simrun_starved(r->vol),
	};
	r->next_sample = r->vol->now + r->config.sample_every;
	return 0;
}

static bool is_time(uint64_t every, uint64_t next, const struct simrun *r)
{
	return every && r->vol->now >= next;
}

/* What is due now and then. */
static int do_chores(struct simrun *r, struct context *cx)
{
	const struct simrun_config *c = &r->config;
	int ret = 0;

	if (is_time(c->flush_every, r->next_flush, r))
		ret = flush(r, cx);
	if (!ret && is_time(c->snapshot_every, r->next_snapshot, r))
		ret = take_snapshot(r, cx);
	if (!ret && is_time(c->protect, r->next_mark, r))
		pass_time(r);
	if (!ret && is_time(c->sample_every, r->next_sample, r))
		ret = take_sample(r, cx);
	if (!ret && is_time(c->check_every, r->next_check, r)) {
		r->next_check = r->vol->now + c->check_every;
		ret = simcheck_volume(r->vol, cx);
	}
	if (!ret && (r->vol->now & PATIENCE) == 0)
		ret = context_cancelled(cx);
	return ret;
}

/* Segments that a flush of what is dirty may take. */
static uint64_t segments_for_flush(const struct simvol *v)
{
	return simmeta_dirty(v) / v->config.blocks;
}

static int clean_for_user(struct simrun *r, struct context *cx)
{
	const struct simvol *v = r->vol;

	if (simclean_is_due(r->cleaner))
		return simclean_round(r->cleaner, cx);
	/* Too much dirty metadata is flushed while it can be. */
	if (simmeta_dirty(v) > v->config.blocks &&
	    v->nclean < r->cleaner->config.low + segments_for_flush(v))
		return simmeta_flush(r->vol, cx);
	return 0;
}

/* Writes block ID to the volume. */
static int write_block(struct simrun *r, struct context *cx, uint32_t id)
{
	int ret = clean_for_user(r, cx);

	if (!ret)
		ret = simvol_write(r->vol, cx, id);
	return ret ? ret : do_chores(r, cx);
}

static int write_page(struct simrun *r, struct context *cx, uint64_t page)
{
	r->asked++;
	if (!r->config.dirty_pages)
		return write_block(r, cx, (uint32_t)page);
	simdirty_add(&r->dirty, page);
	if (r->dirty.count <= r->config.dirty_pages)
		return 0;
	return write_block(r, cx, (uint32_t)simdirty_take(&r->dirty));
}

static int sync_all(struct simrun *r, struct context *cx)
{
	int ret = 0;

	while (!ret && r->dirty.count)
		ret = write_block(r, cx, (uint32_t)simdirty_take(&r->dirty));
	return ret ? ret : flush(r, cx);
}

static void trim_page(struct simrun *r, uint64_t page)
{
	if (r->config.dirty_pages)
		simdirty_drop(&r->dirty, page);
	simvol_trim(r->vol, (uint32_t)page);
}

/*
 * The snapshots that were due until OP.  After a pause these are several of the
 * same state, of which no more are made than are kept.
 */
static int pass_clock(struct simrun *r, struct context *cx,
		      const struct simop *op)
{
	uint64_t every = r->config.snapshot_time, due;
	int ret = 0;

	r->vol->clock = op->time;
	if (!every || op->time < r->next_snapshot_time)
		return 0;
	due = (op->time - r->next_snapshot_time) / every + 1;
	r->next_snapshot_time += due * every;
	if (due > (uint64_t)r->config.snapshots + 1)
		due = (uint64_t)r->config.snapshots + 1;
	while (!ret && due--)
		ret = take_snapshot(r, cx);
	return ret;
}

int simrun_step(struct simrun *r, struct context *cx, const struct simop *op)
{
	uint64_t i;
	int ret = pass_clock(r, cx, op);

	if (ret)
		return ret;
	if (op->kind == SIMOP_SYNC)
		return sync_all(r, cx);
	if (op->block > r->vol->config.data ||
	    op->count > r->vol->config.data - op->block)
		return fail(cx, -EINVAL, "the user reaches past the end");
	for (i = 0; i < op->count && !ret; i++) {
		if (op->kind == SIMOP_TRIM)
			trim_page(r, op->block + i);
		else
			ret = write_page(r, cx, op->block + i);
	}
	if (!ret && r->config.syncs && op->kind == SIMOP_WRITE)
		ret = simmeta_sync(r->vol, cx, (uint32_t)op->block,
				   (uint32_t)op->count);
	return ret;
}

void simrun_measure(struct simrun *r)
{
	r->start = r->vol->totals;
	r->asked_start = r->asked;
	r->nsamples = 0;
}

struct simvol_totals simrun_totals(const struct simrun *r)
{
	struct simvol_totals t = r->vol->totals;
	const uint64_t *start = (const void *)&r->start;
	uint64_t *numbers = (void *)&t;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(*numbers); i++)
		numbers[i] -= start[i];
	return t;
}

void simrun_halve(struct simrun *r)
{
	struct simvol_totals t = simrun_totals(r);

	r->half = (struct simrun_half){
		.user = simrun_asked(r),
		.written = simrun_written(&t),
	};
}

uint64_t simrun_asked(const struct simrun *r)
{
	return r->asked - r->asked_start;
}

uint64_t simrun_written(const struct simvol_totals *t)
{
	uint64_t sum = t->summary + t->held + t->moved[SIMVOL_DATA];
	unsigned int k;

	/* Metadata that is moved is flushed. */
	for (k = 0; k < SIMVOL_KINDS; k++)
		sum += t->written[k];
	return sum;
}

uint32_t simrun_starved(const struct simvol *v)
{
	uint32_t i, n = 0;

	for (i = 0; i < v->config.nsegments; i++)
		n += v->state[i] == SIMVOL_FULL &&
		     v->segments[i].live >= v->config.blocks / 2 &&
		     v->needed[i] <= v->config.blocks / 8;
	return n;
}
