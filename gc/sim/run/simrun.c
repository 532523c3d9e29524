// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One run of the simulator: the operations of a workload or trace on one volume with
 * one policy.
 *
 * Before a block is written, the cleaner runs until the clean segments have room for
 * the block and for all dirty metadata.
 */
#include "gc/sim/run/simrun.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bitmap.h"
#include "gc/sim/volume/simvol.h"

/* Steps between two checks for cancellation. */
#define PATIENCE 0xffffu

/* Removes the next dirty page; there must be one. */
static uint32_t take_dirty(struct simdirty *d)
{
	uint64_t page = bitmap_next_set(&d->map, d->next);

	if (page == d->map.bits)
		page = bitmap_next_set(&d->map, 0);
	d->next = page + 1;
	d->count--;
	bitmap_clear(&d->map, page);
	return (uint32_t)page;
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
		simhistory_protect(v, 0);
	return config->dirty_pages ?
		       bitmap_init(&r->dirty.map, cx, v->config.data) : 0;
}

void simrun_close(struct simrun *r)
{
	bitmap_fini(&r->dirty.map);
	free(r->samples);
	r->samples = NULL;
}

static int flush_volume(struct simrun *r, struct context *cx)
{
	r->next_flush = r->vol->now + r->config.flush_every;
	return simmeta_flush(r->vol, cx);
}

/* Adds a snapshot, of a checkpoint made for it. */
static int take_snapshot(struct simrun *r, struct context *cx)
{
	int ret = flush_volume(r, cx);

	r->next_snapshot = r->vol->now + r->config.snapshot_every;
	if (!ret)
		ret = simhistory_take(r->vol, cx);
	if (!ret && r->vol->nsnapshots - r->vol->nkept > r->config.snapshots)
		simhistory_drop(r->vol);
	return ret;
}

static bool is_due(uint64_t every, uint64_t next, const struct simrun *r)
{
	return every && r->vol->now >= next;
}

/*
 * Writes block ID to the volume, after the necessary cleaning, and does the periodic
 * tasks that are due.
 */
static int write_block(struct simrun *r, struct context *cx, uint32_t id)
{
	const struct simrun_config *c = &r->config;
	struct simvol *v = r->vol;
	struct simvol_totals t;
	uint64_t dirty;
	uint32_t *mark;
	int ret = 0;

	if (simclean_is_due(r->cleaner)) {
		ret = simclean_round(r->cleaner, cx);
	} else {
		/*
		 * Too many dirty metadata blocks are flushed while there is
		 * room.
		 */
		dirty = simmeta_dirty(v);
		if (dirty > v->config.blocks &&
		    v->nclean < r->cleaner->config.low +
				dirty / v->config.blocks)
			ret = simmeta_flush(v, cx);
	}
	if (!ret)
		ret = simvol_write(v, cx, id);
	if (!ret && is_due(c->flush_every, r->next_flush, r))
		ret = flush_volume(r, cx);
	if (!ret && is_due(c->snapshot_every, r->next_snapshot, r))
		ret = take_snapshot(r, cx);
	/* A part of the protection period is over. */
	if (!ret && is_due(c->protect, r->next_mark, r)) {
		mark = &r->marks[r->nmarks++ % SIMRUN_PERIODS];
		r->next_mark = v->now + c->protect / SIMRUN_PERIODS;
		simhistory_protect(v, *mark);
		*mark = v->cno;
	}
	if (!ret && is_due(c->sample_every, r->next_sample, r)) {
		if (array_reserve(cx, &r->samples, &r->room, r->nsamples + 1))
			return -ENOMEM;
		t = simrun_totals(r);
		r->samples[r->nsamples++] = (struct simrun_sample){
			.user = t.user,
			.written = simrun_written(&t),
			.clean = v->nclean,
			.starved = simrun_starved(v),
		};
		r->next_sample = v->now + c->sample_every;
	}
	if (!ret && is_due(c->check_every, r->next_check, r)) {
		r->next_check = v->now + c->check_every;
		ret = simcheck_volume(v, cx);
	}
	if (!ret && (v->now & PATIENCE) == 0)
		ret = context_cancelled(cx);
	return ret;
}

int simrun_step(struct simrun *r, struct context *cx, const struct simop *op)
{
	struct simdirty *d = &r->dirty;
	uint64_t most = r->config.dirty_pages, page, end, due = 0;
	uint64_t every = r->config.snapshot_time;
	int ret = 0;

	/*
	 * The snapshots that were due until OP.  After a pause these are
	 * several of the same state; at most as many as are kept are made.
	 */
	r->vol->clock = op->time;
	if (every && op->time >= r->next_snapshot_time) {
		due = (op->time - r->next_snapshot_time) / every + 1;
		r->next_snapshot_time += due * every;
		if (due > (uint64_t)r->config.snapshots + 1)
			due = (uint64_t)r->config.snapshots + 1;
	}
	while (!ret && due--)
		ret = take_snapshot(r, cx);
	if (ret)
		return ret;
	if (op->kind == SIMOP_SYNC) {
		while (!ret && d->count)
			ret = write_block(r, cx, take_dirty(d));
		return ret ? ret : flush_volume(r, cx);
	}
	if (op->block > r->vol->config.data ||
	    op->count > r->vol->config.data - op->block)
		return fail(cx, -EINVAL, "the user writes after the end of the volume");
	end = op->block + op->count;
	if (op->kind == SIMOP_WRITE && r->vol->place.kind->ask)
		r->vol->place.kind->ask(r->vol, op->block, op->count);
	for (page = op->block; page < end && !ret; page++) {
		bool is_dirty = most && bitmap_test(&d->map, page);

		if (op->kind == SIMOP_TRIM) {
			if (is_dirty)
				bitmap_clear(&d->map, page);
			d->count -= is_dirty;
			simvol_trim(r->vol, (uint32_t)page);
			continue;
		}
		r->asked++;
		if (!most) {
			ret = write_block(r, cx, (uint32_t)page);
			continue;
		}
		d->count += !is_dirty;
		bitmap_set(&d->map, page);
		if (d->count > most)
			ret = write_block(r, cx, take_dirty(d));
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

uint64_t simrun_written(const struct simvol_totals *t)
{
	uint64_t sum = t->summary + t->held + t->moved[SIMVOL_DATA];
	unsigned int k;

	/* Moved metadata blocks are counted as flushed. */
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
