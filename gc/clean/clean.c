// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning.
 *
 * Each batch opens the volume again.  Victims are added in the order of the
 * policy until the goal is reached, the clean segments are full, or memory is.
 * If a victim does not fit, a smaller one may.
 */
#include "gc/clean/clean.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/context.h"
#include "gc/move/collector.h"
#include "gc/plan/facts.h"
#include "gc/plan/policy.h"
#include "vol/volume.h"

/*
 * Cleaning with few clean segments, or none.
 *
 * The metadata that a batch writes is only known by an upper bound, which is
 * too coarse if few blocks are free.  So batches are tried on an overlay, which
 * gives exact numbers: first with as many victims as could fit at best, then
 * with fewer, finally with single ones.  The first that leaves more room than
 * before is made.  Room grows each time, so this ends, or reaches the point
 * where the bound suffices.
 *
 * The last log needs a next segment, which is not written yet.  If none is
 * clean, it can be one that the log itself frees, provided that it has no live
 * blocks: the old state stays intact in any case.
 */

/* Fewer clean segments, or blocks of them. */
#define FEW_SEGMENTS 3
#define FEW_BLOCKS 128

/* From so many victims on half of them are left out next, not one. */
#define MANY 8

/* How many are tried alone. */
#define ALONE 8

struct scarce {
	struct collector *k;
	const struct policy *policy;
	uint32_t min_dead;
	uint64_t room;		/* blocks, before */
};

/*
 * Whether so little is clean that estimates are too coarse, in K's round, or one
 * was already.
 */
static bool scarce_is(const struct collector *k)
{
	uint64_t clean = k->facts.clean;

	return k->most || clean < FEW_SEGMENTS ||
	       clean * k->vol->geo.blocks_per_segment < FEW_BLOCKS;
}

/* Adds S where that may fit: 1, 0, or a failure. */
static int add_victim(struct scarce *s, struct context *cx,
		      const struct policy_segment *segment)
{
	struct load *l = &s->k->load;
	struct load_size before = l->has;
	int ret = collector_add(s->k, cx, segment, UINT64_MAX);

	if (ret <= 0 || batch_least(l) <= s->room)
		return ret;
	load_rewind(l, cx, &before);
	return 0;
}

/* MOST victims, without the first SKIP that are worth it. */
static int choose_victims(struct scarce *s, struct context *cx, size_t skip,
			  size_t most)
{
	struct facts *f = &s->k->facts;
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, s->policy, &f->env, f->segments, f->n);

	while (ret >= 0 && s->k->load.has.nvictims < most) {
		i = policy_next(&order, f->clean);
		if (i < 0)
			break;
		if (!policy_is_worth(&f->segments[i], s->min_dead))
			continue;
		if (skip)
			skip--;
		else
			ret = add_victim(s, cx, &f->segments[i]);
	}
	policy_close(&order);
	return ret < 0 ? ret : 0;
}

/* *CHOSEN of MOST victims: 1 where they leave more room, 0, or a failure. */
static int try(struct scarce *s, struct context *cx, size_t skip, size_t most,
	       size_t *chosen)
{
	uint64_t after = 0, segnum;
	int ret;

	load_fini(&s->k->load);
	ret = choose_victims(s, cx, skip, most);
	*chosen = s->k->load.has.nvictims;
	if (!ret && *chosen)
		ret = collector_try(s->k, cx, &after, &segnum);
	return ret ? ret : after > s->room;
}

static int try_fewer(struct scarce *s, struct context *cx)
{
	size_t most = SIZE_MAX, chosen;
	int ret;

	do {
		ret = try(s, cx, 0, most, &chosen);
		most = chosen > MANY ? chosen / 2 : chosen ? chosen - 1 : 0;
	} while (!ret && most);
	return ret;
}

static int try_more_victims(struct scarce *s, struct context *cx)
{
	size_t skip, chosen = 1;
	int ret = 0;

	for (skip = 1; skip <= ALONE && chosen && !ret; skip++)
		ret = try(s, cx, skip, 1, &chosen);
	return ret;
}

/*
 * One batch in the round of K, of which nothing was added, in the order of
 * POLICY, where a segment is worth it (policy_is_worth()) by MIN_DEAD: 1 where
 * there is more room after it; 0, and nothing was done, where no batch that was
 * tried comes to that.  Fails as collector_move().
 */
static int scarce_run(struct collector *k, struct context *cx,
		      const struct policy *policy, uint32_t min_dead)
{
	struct scarce s = {
		.k = k,
		.policy = policy,
		.min_dead = min_dead,
		.room = collector_room(k),
	};
	int ret = try_fewer(&s, cx);

	if (!ret)
		ret = try_more_victims(&s, cx);
	if (ret <= 0)
		return ret;
	ret = collector_move(k, cx, &k->o->batch);
	return ret ? ret : 1;
}

/* Adds up to MOST segments without live blocks: their number, or a failure. */
static int64_t add_dead_segments(struct collector *k, struct context *cx,
				 size_t most)
{
	const struct facts *f = &k->facts;
	size_t i;
	int ret = 0;

	load_fini(&k->load);
	for (i = 0; i < f->n && ret >= 0 && k->load.has.nvictims < most; i++)
		if (!f->segments[i].live)
			ret = collector_add(k, cx, &f->segments[i], UINT64_MAX);
	return ret < 0 ? ret : (int64_t)k->load.has.nvictims;
}

/* Whether the batch leaves more room, and writes to no victim: 1, 0. */
static int is_of_use(struct collector *k, struct context *cx)
{
	const struct recovery *latest = &k->vol->latest;
	uint64_t after, segnum = UINT64_MAX;
	int ret = collector_try(k, cx, &after, &segnum);

	if (ret)
		return ret;
	return after > collector_room(k) &&
	       (segnum == latest->segnum || segnum == latest->nextnum);
}

static int reuse(struct collector *k, struct context *cx)
{
	size_t most = SIZE_MAX;
	int64_t n;
	int ret;

	do {
		n = add_dead_segments(k, cx, most);
		ret = n > 0 ? is_of_use(k, cx) : (int)n;
		most = (size_t)n / 2;
	} while (!ret && n > 1);
	if (ret > 0)
		ret = collector_move(k, cx, &k->o->batch);
	else
		return ret;
	return ret ? ret : 1;
}

/*
 * If no segment is clean: frees as many segments without live blocks as
 * possible, with a log that names one of them as the next.  1 if that leaves
 * more room, 0 if not, or if K's device has zones.
 */
static int scarce_reuse(struct collector *k, struct context *cx)
{
	int ret;

	if (k->dev->zones)
		return 0;
	k->reuse = true;
	ret = reuse(k, cx);
	k->reuse = false;
	return ret;
}

/*
 * Estimate of the blocks to be moved.
 *
 * All batches are chosen at once, by the counts of the first: what does not fit
 * into one is moved by the next.  It is used for progress only.
 */

/*
 * Whether cleaning S frees more than its live blocks and their summary take:
 * otherwise the batch gains nothing, and is the last.
 */
static bool is_gain(const struct policy_segment *s)
{
	return (uint64_t)s->live + s->live / 32 + 1 < s->blocks;
}

/* Clean segments gained from N victims with LIVE blocks. */
static uint64_t gain(const struct facts *f, uint64_t n, uint64_t live)
{
	uint64_t bps = f->vol->geo.blocks_per_segment;
	uint64_t taken = (live + bps - 1) / bps;

	return n > taken ? n - taken : 0;
}

/*
 * Blocks that cleaning by OPTIONS will move, from the state that F describes:
 * an estimate, as metadata written on the way is not included.  -ENOMEM.
 */
static int estimate_moves(struct context *cx, const struct facts *f,
			  const struct clean_options *options, uint64_t *blocks)
{
	const struct policy_segment *s;
	struct policy_order order;
	uint64_t n = 0, live = 0;
	int64_t i;

	*blocks = 0;
	if (policy_open(&order, options->policy, &f->env, f->segments, f->n)) {
		policy_close(&order);
		return fail(cx, -ENOMEM, "order of segments");
	}
	while (gain(f, n, live) < options->goal &&
	       (i = policy_next(&order, f->clean)) >= 0) {
		s = &f->segments[i];
		if (!is_gain(s) || !policy_is_worth(s, options->min_dead))
			continue;
		n++;
		live += s->live;
	}
	policy_close(&order);
	*blocks = live;
	return 0;
}

struct cleaner {
	struct collector k;
	struct clean *c;
	const struct clean_options *o;
	uint8_t *fates;		/* enum clean_fate of f->segments; or NULL */
};

static int begin_fates(struct cleaner *c, struct context *cx)
{
	size_t i, n = c->k.facts.n, room = 0;

	if (!c->o->fate || !n)
		return 0;
	c->fates = array_grow(cx, NULL, &room, n, 1);
	if (!c->fates)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		c->fates[i] = CLEAN_UNNEEDED;
	return 0;
}

/* Of SEGNUM, which is worth it, and was ADDED or not. */
static enum clean_fate fate_of(const struct collector *k, uint64_t segnum,
			       bool added)
{
	if (added)
		return CLEAN_FREED;
	if (k->full)
		return CLEAN_FULL;
	return collector_is_bad(k, segnum) ? CLEAN_LEFT : CLEAN_YOUNG;
}

/*
 * Reports segments whose fate a batch has decided, by whether it was MOVED; or
 * that no batch will clean, as nothing would be gained.
 */
static void report_fates(struct cleaner *c, bool moved)
{
	const struct policy_segment *s = c->k.facts.segments;
	size_t i;

	for (i = 0; c->fates && i < c->k.facts.n; i++) {
		bool freed = c->fates[i] == CLEAN_FREED;

		if (!moved)
			c->o->fate(c->o->how.arg, &s[i],
				   freed ? CLEAN_UNNEEDED : c->fates[i]);
		else if (freed)
			c->o->fate(c->o->how.arg, &s[i], CLEAN_FREED);
	}
}

/* Adds segment I if it is worth it: 1, 0, or a failure. */
static int consider(struct cleaner *c, struct context *cx, int64_t i,
		    uint64_t room)
{
	const struct policy_segment *s = &c->k.facts.segments[i];
	int ret;

	if (!policy_is_worth(s, c->o->min_dead)) {
		if (c->fates)
			c->fates[i] = CLEAN_SPARED;
		return 0;
	}
	ret = collector_add(&c->k, cx, s, room);
	if (ret >= 0 && c->fates)
		c->fates[i] = fate_of(&c->k, s->segnum, ret);
	return ret;
}

static int choose_batch(struct cleaner *c, struct context *cx, uint64_t goal)
{
	struct facts *f = &c->k.facts;
	uint64_t room = collector_room(&c->k);
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, c->o->policy, &f->env, f->segments, f->n);

	/* Once memory is full the rest is looked at only for its fate. */
	while (ret >= 0 && collector_gain(&c->k) < goal &&
	       (c->fates || !collector_is_sated(&c->k))) {
		i = policy_next(&order, f->clean);
		if (i < 0)
			break;
		ret = consider(c, cx, i, room);
	}
	policy_close(&order);
	return ret < 0 ? ret : 0;
}

/* Number of segments still to be freed. */
static uint64_t goal_left(const struct cleaner *c)
{
	uint64_t clean = c->k.facts.clean, before = c->c->clean_before;
	uint64_t gained = clean > before ? clean - before : 0;

	if (c->o->goal == CLEAN_ALL)
		return CLEAN_ALL;
	return c->o->goal > gained ? c->o->goal - gained : 0;
}

static bool is_any_worth(const struct cleaner *c)
{
	const struct facts *f = &c->k.facts;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (policy_is_worth(&f->segments[i], c->o->min_dead))
			return true;
	return false;
}

/* The victims are those of the load, whatever was chosen before. */
static void note_chosen(struct cleaner *c)
{
	const struct facts *f = &c->k.facts;
	const struct load *l = &c->k.load;
	size_t i, j;

	for (i = 0; c->fates && i < f->n; i++) {
		c->fates[i] = CLEAN_UNNEEDED;
		for (j = 0; j < l->has.nvictims; j++)
			if (l->victims[j] == f->segments[i].segnum)
				c->fates[i] = CLEAN_FREED;
	}
}

/* Where next to nothing is clean each block counts: 1, 0, or a failure. */
static int run_scarce(struct cleaner *c, struct context *cx)
{
	uint64_t room = collector_room(&c->k);
	int ret;

	if (!scarce_is(&c->k))
		return 0;
	ret = scarce_run(&c->k, cx, c->o->policy, c->o->min_dead);
	if (ret > 0)
		note_chosen(c);
	if (ret || (c->k.facts.clean && !c->k.most) || c->k.totals.batches ||
	    !is_any_worth(c))
		return ret;
	if (c->k.facts.clean)
		return fail(cx, -ENOSPC, "the %" PRIu64 " clean segments are "
			    "too few to clean with; --output makes a compact "
			    "copy, --grow adds segments", c->k.facts.clean);
	return fail(cx, -ENOSPC, "no segment is clean, and the %" PRIu64
		    " blocks after the latest log are too few to clean with; "
		    "--output makes a compact copy, --grow adds segments",
		    room);
}

/* Gathers the candidates again, which run_chosen() has dropped. */
static int begin_again(struct collector *k, struct context *cx)
{
	collector_close(k);
	return collector_open(k, cx);
}

/*
 * Handles the result RET of a batch.  If it found no room, or too little, frees
 * segments without live blocks: 1, or RET.
 */
static int run_dead(struct cleaner *c, struct context *cx, int ret)
{
	struct context own;
	int reused;

	if (ret != -ENOSPC && (ret || !scarce_is(&c->k)))
		return ret;
	context_child(cx, &own);
	reused = ret ? begin_again(&c->k, &own) : 0;
	if (!reused)
		reused = scarce_reuse(&c->k, &own);
	if (reused > 0)
		note_chosen(c);
	if (reused < 0)
		context_adopt(cx, &own);
	else if (reused)
		fail_clear(cx);
	return reused ? reused : ret;
}

static int run_chosen(struct cleaner *c, struct context *cx)
{
	int ret;

	if (!c->fates)
		facts_drop_candidates(&c->k.facts);
	ret = collector_move(&c->k, cx, &c->o->how.batch);
	return ret ? ret : 1;
}

/*
 * One batch: 1, or 0 if there is nothing to do.  Without a goal, a batch that
 * would gain nothing is not made: the blocks that it writes would be the next
 * one's victims.
 */
static int clean_batch(struct cleaner *c, struct context *cx)
{
	uint64_t goal = goal_left(c);
	size_t bad;
	int ret = begin_fates(c, cx);

	if (!ret && goal)
		ret = choose_batch(c, cx, goal);
	if (ret)
		return ret;
	bad = c->k.nbad;
	if (goal)
		ret = run_dead(c, cx, collector_gain(&c->k) ?
				      run_chosen(c, cx) : run_scarce(c, cx));
	if (!ret || (ret > 0 && bad == c->k.nbad))
		report_fates(c, ret);
	return ret;
}

static int clean_round(struct cleaner *c, struct context *cx, bool first)
{
	struct facts *f = &c->k.facts;
	int ret = collector_open(&c->k, cx);

	if (!ret && c->o->policy->uses_metadata)
		ret = facts_count_metadata(f, cx);
	if (!ret) {
		if (first)
			c->c->clean_before = c->k.totals.clean = f->clean;
		f->env.max_search = c->o->max_search;
		f->env.metadata_weight = c->o->metadata_weight;
		f->env.scarce = c->k.vol->geo.nsegments / 20;
		if (first && c->o->how.moving)
			ret = estimate_moves(cx, f, c->o, &c->k.to_move);
	}
	if (!ret)
		ret = clean_batch(c, cx);
	if (ret == -EAGAIN) {
		fail_clear(cx);
		ret = 1;
	}
	free(c->fates);
	c->fates = NULL;
	collector_close(&c->k);
	return ret;
}

int clean_run(struct clean *clean, struct context *cx, struct dev *dev,
	      const struct clean_options *options)
{
	struct cleaner c = { .c = clean, .o = options };
	bool first = true;
	int ret;

	*clean = (struct clean){ 0 };
	collector_init(&c.k, dev, &options->how);
	do {
		ret = clean_round(&c, cx, first);
		first = false;
	} while (ret > 0);
	if (!ret)
		ret = collector_finish(&c.k, cx);
	clean->totals = c.k.totals;
	clean->left = c.k.nbad;
	collector_fini(&c.k);
	return ret;
}
