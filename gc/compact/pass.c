// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A pass of compaction.
 *
 * The future end follows from the number of live blocks.  Every segment after
 * it has to be emptied, and those before it that are not full.  A batch can
 * write only to segments that are clean now, so there are three kinds:
 *
 * - release: freeing segments without live blocks costs nothing, and makes room
 *   for a larger next batch; only at the beginning, since later it would take a
 *   batch for a few segments each time;
 * - fill: the lowest clean segments are filled from the emptiest segments
 *   before the end, which frees more than it takes, then from those after the
 *   end, the last first;
 * - evacuate: if hardly any segment before the end is clean, the emptiest
 *   segments there are moved after the end.
 *
 * If full segments are to be moved as well, a batch of all blocks comes first,
 * if there is room for it: only then all blocks are in one order.
 *
 * Blocks present before the pass are moved by it once, or twice if evacuated,
 * and otherwise blocks only move forward, so a pass ends.
 */
#include "gc/compact/pass.h"

#include "vol/volume.h"

/*
 * Segments to be gained by one evacuation: a share of those before the end, and
 * the loss where batches end.  See doc/policies.md.
 */
#define EVACUATED 128
#define EVACUATED_LEAST 2

/* The error of the estimated need of a batch, as 1 / DOUBT of it. */
#define DOUBT 16

/*
 * Whether S, before END, is to be emptied: always if all are moved, or if it
 * wastes some blocks.
 */
static bool is_due(const struct pass *p, const struct policy_segment *s,
		   uint64_t end)
{
	uint64_t listed = sizeof(struct nilfs_finfo) +
			  sizeof(struct nilfs_binfo_v);
	/* As if each block was of another file. */
	uint64_t summary = s->live * listed / p->k->vol->geo.block_size + 1;

	if (s->segnum >= end || !bitmap_test(&p->old, s->segnum))
		return false;
	return p->all || s->live + summary + NILFS_PSEG_MIN_BLOCKS <= s->blocks;
}

/*
 * Chooses the first batch: releases segments without live blocks, if there are
 * enough.  If all blocks are to be moved, the log has to leave its segment
 * first.  1, or 0 if the batch is not needed.
 */
static int choose_first(struct pass *p, struct context *cx)
{
	struct facts *f = &p->k->facts;
	uint64_t room = collector_room(p->k);
	size_t i;
	int ret = 0;

	if (p->was.begun)
		return 0;
	p->was.begun = true;
	for (i = 0; i < f->n; i++)
		if (!f->segments[i].live &&
		    f->segments[i].segnum < p->space.end)
			break;
	if (i == f->n && !p->all)
		return 0;
	p->batch = p->k->o->batch;
	p->batch.front = !p->all;
	p->batch.fresh = p->all;
	for (i = 0; i < f->n && ret >= 0; i++)
		if (!f->segments[i].live)
			ret = collector_add(p->k, cx, &f->segments[i], room);
	if (ret < 0)
		return ret;
	return p->all || p->k->load.has.nvictims > 0;
}

/* The number of candidates before END, which are the first ones. */
static size_t count_before(const struct facts *f, uint64_t end)
{
	size_t n = f->n;

	while (n && f->segments[n - 1].segnum >= end)
		n--;
	return n;
}

/*
 * Adds segments before END, the emptiest first, until GAIN segments are gained.
 */
static int add_low(struct pass *p, struct context *cx, uint64_t end,
		   uint64_t room, uint64_t gain)
{
	struct facts *f = &p->k->facts;
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, policy_find("optimal"), &f->env,
			      f->segments, count_before(f, end));

	while (ret >= 0 && collector_gain(p->k) < gain &&
	       !collector_is_sated(p->k)) {
		i = policy_next(&order, 0);
		if (i < 0)
			break;
		if (is_due(p, &f->segments[i], end))
			ret = collector_add(p->k, cx, &f->segments[i], room);
	}
	policy_close(&order);
	return ret < 0 ? ret : 0;
}

/*
 * Fills clean segments before the end, first from there, then from after it,
 * with blocks that move forward: 1, or 0 if that is impossible.
 */
static int choose_fill(struct pass *p, struct context *cx)
{
	struct facts *f = &p->k->facts;
	uint64_t before_end = space_before(&p->space, p->space.end);
	uint64_t room = space_all(&p->space);
	size_t i, n = f->n - count_before(f, p->space.end);
	int ret = add_low(p, cx, p->space.end,
			  before_end < room ? before_end : room, UINT64_MAX);

	for (i = 0; i < n && ret >= 0 && !collector_is_sated(p->k); i++) {
		struct load_size before = p->k->load.has;
		struct space reached = p->space;
		const struct policy_segment *s = &f->segments[
			p->in_order ? f->n - n + i : f->n - 1 - i];

		ret = collector_add(p->k, cx, s, room);
		if (ret <= 0 || space_reach(&p->space, batch_need(&p->k->load)) <=
					s->segnum)
			continue;
		p->space = reached;
		load_rewind(&p->k->load, cx, &before);
	}
	if (ret < 0)
		return ret;
	if (p->k->load.has.nvictims > p->none)
		return 1;
	/* Once in a pass the log itself moves forward, if it can. */
	return p->space.fresh && p->k->facts.clean > 1 &&
	       bitmap_test(&p->old, p->k->vol->latest.segnum);
}

/* Segments to be gained by an evacuation. */
static uint64_t wanted_gain(const struct pass *p)
{
	return p->space.end / EVACUATED + EVACUATED_LEAST;
}

/* Makes room before END: 1; 0, and nothing is added, if that is impossible. */
static int choose_evacuate(struct pass *p, struct context *cx, uint64_t end)
{
	struct load_size before = p->k->load.has;
	int ret = add_low(p, cx, end, space_all(&p->space),
			  wanted_gain(p) + p->none);

	if (ret || collector_gain(p->k) > p->none)
		return ret ? ret : 1;
	load_rewind(&p->k->load, cx, &before);
	return 0;
}

/*
 * Whether there is so little room before the end, and so much to be moved
 * there, that one evacuation is better than many small fills: once in a pass.
 */
static bool is_narrow(const struct pass *p)
{
	const struct facts *f = &p->k->facts;
	uint64_t gain = wanted_gain(p), low = 0;
	size_t i, n = count_before(f, p->space.end);

	for (i = 0; i < n; i++)
		low += is_due(p, &f->segments[i], p->space.end);
	return !p->was.evacuated && low > gain &&
	       space_before(&p->space, p->space.end) <
		       gain * p->space.g->blocks_per_segment;
}

/* Chooses the kind of a batch and its victims: 1, or 0 if there is none. */
static int choose_kind(struct pass *p, struct context *cx)
{
	struct facts *f = &p->k->facts;
	struct load *l = &p->k->load;
	const struct policy_segment next = {
		.segnum = p->k->vol->latest.nextnum,
	};
	uint64_t room = space_all(&p->space);
	struct load_size before;
	size_t i;
	int ret = choose_first(p, cx);

	if (ret)
		return ret;
	p->batch = p->k->o->batch;
	p->batch.front = true;
	p->batch.fresh = p->space.fresh;
	p->batch.next_taken = p->space.next_taken;
	/*
	 * The segment named as the next is free for others, if it is not used.
	 */
	p->none = p->space.next_taken;
	if (p->space.next_taken)
		ret = load_take(l, cx, &next);
	if (ret >= 0 && p->all) {
		/* All at once, or none if there is no room. */
		before = l->has;
		p->k->full = false;
		for (i = 0; i < f->n && ret >= 0 && !p->k->full; i++)
			if (bitmap_test(&p->old, f->segments[i].segnum))
				ret = collector_add(p->k, cx, &f->segments[i],
						    room);
		if (ret >= 0 && p->k->full)
			load_rewind(l, cx, &before);
		if (ret >= 0 && l->has.nvictims > p->none)
			return 1;
	}
	if (ret < 0)
		return ret;
	if (is_narrow(p)) {
		p->was.evacuated = true;
		ret = choose_evacuate(p, cx, p->space.end);
		if (ret)
			return ret;
	}
	ret = choose_fill(p, cx);
	if (!ret)
		ret = choose_evacuate(p, cx, p->space.end);
	/* Even to segments after the end: fewer segments are then in use. */
	if (!ret)
		ret = choose_evacuate(p, cx, UINT64_MAX);
	if (ret)
		return ret;
	/*
	 * Finally the log names a lower segment as the next, if there is one.
	 */
	ret = p->space.next_taken && !p->was.ended;
	p->was.ended = true;
	return ret;
}

/*
 * Whether the batch certainly moves the end forward, or frees segments without
 * moving the end backward, or frees so many that a farther end is temporary: all
 * with the error of batch_need().
 */
static bool is_certain(struct pass *p)
{
	const struct load *l = &p->k->load;
	uint64_t need = batch_need(l), gain = collector_gain(p->k);
	uint64_t taken = need / p->space.g->blocks_per_segment + 1;
	uint64_t doubt = taken / DOUBT + 2;
	uint64_t before = space_last(&p->space, NULL, 0);
	uint64_t after = space_last(&p->space, l->victims, l->has.nvictims);
	uint64_t reached = space_reach(&p->space, need);

	if (after < reached)
		after = reached;
	return after + doubt < before ||
	       gain > p->none + (after <= before ? doubt : 2 * taken);
}

/* Makes one batch: 1, or 0 if there is none, or no CERTAIN one. */
static int pass_batch(struct pass *p, struct context *cx, bool certain)
{
	struct facts *f = &p->k->facts;
	const struct load *l = &p->k->load;
	uint64_t batches = p->k->totals.batches;
	struct pass before = *p;
	size_t i;
	int ret = 0;

	if (bitmap_next_clear(&p->space.used, 0) < p->space.used.bits)
		ret = choose_kind(p, cx);
	p->done = !ret;
	if (ret <= 0)
		return ret;
	if (certain && !is_certain(p)) {
		p->was = before.was;
		return 0;
	}
	/* Without a trial the progress shows an estimate of the moves. */
	if (certain)
		p->k->to_move = p->k->moved;
	for (i = 0; i < f->n && certain; i++)
		if (f->segments[i].segnum >= p->space.end ||
		    is_due(p, &f->segments[i], p->space.end))
			p->k->to_move += f->segments[i].live;
	facts_drop_candidates(f);
	ret = collector_move(p->k, cx, &p->batch);
	for (i = 0; i < l->has.nvictims && p->k->totals.batches > batches; i++)
		bitmap_clear(&p->old, l->victims[i]);
	if (!ret && p->k->again)
		p->was = before.was;
	return ret ? ret : 1;
}

int pass_run(struct pass *p, struct context *cx, struct collector *k,
	     bool certain)
{
	int ret;

	p->k = k;
	k->unbounded = p->all;
	do {
		ret = collector_open(k, cx);
		if (!ret)
			ret = space_open(&p->space, cx, &k->facts);
		if (!ret && !p->old.words)
			ret = bitmap_copy(&p->old, cx, &k->facts.used);
		if (!ret)
			ret = pass_batch(p, cx, certain);
		bitmap_fini(&p->space.used);
		collector_close(k);
	} while (ret > 0);
	k->unbounded = false;
	return ret;
}
