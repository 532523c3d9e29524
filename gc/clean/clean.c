// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning a volume that is not mounted (gc/live/online.c: one that is).
 *
 * Each batch opens the volume again.  Victims are added in the order of the
 * policy until the goal is reached, or clean segments or memory are used up.
 * If a victim does not fit, a smaller one may.
 */
#include "gc/clean/clean.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/context.h"
#include "gc/move/collector.h"
#include "gc/plan/facts.h"
#include "gc/plan/policy.h"
#include "vol/volume.h"

struct cleaner {
	struct collector k;
	struct clean *c;
	const struct clean_options *o;
	uint8_t *fates;		/* enum clean_fate of f->segments; or NULL */
};

/*
 * Cleaning with few clean segments, or none.
 *
 * The metadata that a batch writes is only known by an upper bound, which is
 * too coarse if few blocks are free.  So batches are tried on an overlay, which
 * gives exact numbers: first with as many victims as could fit at best, then
 * with fewer, finally with single ones.  The first that leaves more room than
 * before is made.  Room grows each time, so this ends, or there is enough room
 * for the bound.
 *
 * The last log needs a next segment, which is not written yet.  If no segment
 * is clean, it can be one that the log itself frees, provided that it has no
 * live blocks: the old state stays intact in any case.
 */

/* Room is scarce with fewer clean segments, or blocks in them. */
#define FEW_SEGMENTS 3
#define FEW_BLOCKS 128

/*
 * With this many victims or more a failed trial is repeated with half of them.
 */
#define MANY 8

/* Maximum number of victims tried alone. */
#define ALONE 8

/*
 * Whether K's round has so few clean segments that estimates are too coarse, or
 * an estimate already was.
 */
static bool is_scarce(const struct collector *k)
{
	uint64_t clean = k->facts.clean;

	return k->most || clean < FEW_SEGMENTS ||
	       clean * k->vol->geo.blocks_per_segment < FEW_BLOCKS;
}

/*
 * Tries at most MOST victims that could fit into ROOM blocks, in the order of
 * the policy, without the first SKIP; *CHOSEN is their number.  1 if more than
 * ROOM is left after them, 0 if not, or a failure.
 */
static int try_victims(struct cleaner *c, struct context *cx, uint64_t room,
		       size_t skip, size_t most, size_t *chosen)
{
	struct facts *f = &c->k.facts;
	struct load *l = &c->k.load;
	struct policy_order order;
	uint64_t after = 0, segnum;
	int64_t i;
	int ret = policy_open(&order, c->o->policy, &f->env, f->segments, f->n);

	load_fini(l);
	while (ret >= 0 && l->has.nvictims < most &&
	       (i = policy_next(&order, f->clean)) >= 0) {
		struct load_size before = l->has;

		if (!policy_is_worth(&f->segments[i], c->o->min_dead))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		ret = collector_add(&c->k, cx, &f->segments[i], UINT64_MAX);
		if (ret > 0 && batch_least(l) > room)
			load_rewind(l, cx, &before);
	}
	policy_close(&order);
	*chosen = l->has.nvictims;
	if (ret >= 0)
		ret = *chosen ? collector_try(&c->k, cx, &after, &segnum) : 0;
	return ret ? ret : after > room;
}

/* Records the victims of the load as chosen, and no others. */
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

/*
 * One batch when hardly any segment is clean: 1 if there is more room after it;
 * 0 if no tried batch gains room, and nothing was changed.  -ENOSPC if no batch
 * ever did, or fails as collector_move().
 */
static int run_scarce(struct cleaner *c, struct context *cx)
{
	const struct facts *f = &c->k.facts;
	uint64_t room = collector_room(&c->k);
	size_t most = SIZE_MAX, skip, chosen, i;
	int ret;

	if (!is_scarce(&c->k))
		return 0;
	do {
		ret = try_victims(c, cx, room, 0, most, &chosen);
		most = chosen > MANY ? chosen / 2 : chosen ? chosen - 1 : 0;
	} while (!ret && most);
	chosen = 1;
	for (skip = 1; skip <= ALONE && chosen && !ret; skip++)
		ret = try_victims(c, cx, room, skip, 1, &chosen);
	if (ret < 0)
		return ret;
	if (ret) {
		ret = collector_move(&c->k, cx, &c->o->how.batch);
		if (ret)
			return ret;
		note_chosen(c);
		return 1;
	}
	for (i = 0; i < f->n; i++)
		if (policy_is_worth(&f->segments[i], c->o->min_dead))
			break;
	if ((f->clean && !c->k.most) || c->k.totals.batches || i == f->n)
		return 0;
	if (f->clean)
		return fail(cx, -ENOSPC, "the %" PRIu64 " clean segments are "
			    "too few to clean with; --output makes a compact "
			    "copy, --grow adds segments", f->clean);
	return fail(cx, -ENOSPC, "no segment is clean, and the %" PRIu64
		    " blocks after the latest log are too few to clean with; "
		    "--output makes a compact copy, --grow adds segments",
		    room);
}

/*
 * If no segment is clean: frees as many segments without live blocks as
 * possible, with a log that names one of them as the next without writing to
 * it.  1 if that leaves more room, 0 if not, or if K's device has zones.
 */
static int reuse_dead(struct collector *k, struct context *cx)
{
	const struct recovery *latest = &k->vol->latest;
	const struct facts *f = &k->facts;
	size_t most = SIZE_MAX, n, i;
	uint64_t after, segnum;
	int ret;

	if (k->dev->zones)
		return 0;
	k->reuse = true;
	do {
		load_fini(&k->load);
		for (i = 0, ret = 0; i < f->n && ret >= 0 &&
		     k->load.has.nvictims < most; i++)
			if (!f->segments[i].live)
				ret = collector_add(k, cx, &f->segments[i],
						    UINT64_MAX);
		n = k->load.has.nvictims;
		most = n / 2;
		segnum = UINT64_MAX;
		if (ret >= 0)
			ret = n ? collector_try(k, cx, &after, &segnum) : 0;
		if (!ret && n)
			ret = after > collector_room(k) &&
			      (segnum == latest->segnum ||
			       segnum == latest->nextnum);
	} while (!ret && n > 1);
	if (ret > 0) {
		ret = collector_move(k, cx, &k->o->batch);
		ret = ret ? ret : 1;
	}
	k->reuse = false;
	return ret;
}

/*
 * Handles the result RET of a batch.  If it found no room, or too little, frees
 * segments without live blocks: 1, or RET.
 */
static int run_dead(struct cleaner *c, struct context *cx, int ret)
{
	struct context own;
	int reused = 0;

	if (ret != -ENOSPC && (ret || !is_scarce(&c->k)))
		return ret;
	context_child(cx, &own);
	if (ret) {
		/* Collect the candidates again, which a batch drops. */
		collector_close(&c->k);
		reused = collector_open(&c->k, &own);
	}
	if (!reused)
		reused = reuse_dead(&c->k, &own);
	if (reused > 0)
		note_chosen(c);
	if (reused < 0)
		context_adopt(cx, &own);
	else if (reused)
		fail_clear(cx);
	return reused ? reused : ret;
}

/* Adds victims that are worth it until GOAL is reached, and records fates. */
static int choose_batch(struct cleaner *c, struct context *cx, uint64_t goal)
{
	struct collector *k = &c->k;
	struct facts *f = &k->facts;
	uint64_t room = collector_room(k);
	struct policy_order order;
	enum clean_fate fate;
	int64_t i;
	int ret = policy_open(&order, c->o->policy, &f->env, f->segments, f->n);

	/* Once memory is full the other candidates only get their fate. */
	while (ret >= 0 && collector_gain(k) < goal &&
	       (c->fates || !collector_is_sated(k))) {
		i = policy_next(&order, f->clean);
		if (i < 0)
			break;
		fate = CLEAN_SPARED;
		if (policy_is_worth(&f->segments[i], c->o->min_dead)) {
			ret = collector_add(k, cx, &f->segments[i], room);
			fate = ret ? CLEAN_FREED : k->full ? CLEAN_FULL :
			       collector_is_bad(k, f->segments[i].segnum) ?
				       CLEAN_LEFT : CLEAN_YOUNG;
		}
		if (ret >= 0 && c->fates)
			c->fates[i] = (uint8_t)fate;
	}
	policy_close(&order);
	return ret < 0 ? ret : 0;
}

/*
 * One batch: 1, or 0 if there is nothing to do.  Without a goal, a batch
 * without gain is not made: the blocks that it writes would be the victims of
 * the next one.
 */
static int clean_batch(struct cleaner *c, struct context *cx)
{
	const struct facts *f = &c->k.facts;
	uint64_t before = c->c->clean_before, goal = c->o->goal;
	uint64_t gained = f->clean > before ? f->clean - before : 0;
	size_t bad, i, room = 0;
	int ret = 0;

	if (goal != CLEAN_ALL)
		goal = goal > gained ? goal - gained : 0;
	if (c->o->fate && f->n) {
		c->fates = array_grow(cx, NULL, &room, f->n, 1);
		if (!c->fates)
			return -ENOMEM;
		memset(c->fates, CLEAN_UNNEEDED, f->n);
	}
	if (goal)
		ret = choose_batch(c, cx, goal);
	if (ret)
		return ret;
	bad = c->k.nbad;
	if (goal && collector_gain(&c->k)) {
		if (!c->fates)
			facts_drop_candidates(&c->k.facts);
		ret = collector_move(&c->k, cx, &c->o->how.batch);
		ret = ret ? ret : 1;
	} else if (goal) {
		ret = run_scarce(c, cx);
	}
	if (goal)
		ret = run_dead(c, cx, ret);
	if (ret < 0 || (ret && bad != c->k.nbad) || !c->o->fate || !c->fates)
		return ret;
	/*
	 * The fates that the batch has decided; after the last batch, those of
	 * all candidates that were not cleaned.
	 */
	for (i = 0; i < f->n; i++) {
		bool freed = c->fates[i] == CLEAN_FREED;

		if (freed || !ret)
			c->o->fate(c->o->how.arg, &f->segments[i],
				   freed && !ret ? CLEAN_UNNEEDED :
						   c->fates[i]);
	}
	return ret;
}

void clean_measure_rest(struct clean_rest *rest, const struct facts *f,
			uint32_t percent)
{
	const struct policy_segment *s;
	uint64_t dead;

	*rest = (struct clean_rest){ 0 };
	for (s = f->segments; s < f->segments + f->n; s++) {
		dead = s->live < s->written ? s->written - s->live : 0;
		rest->protected += s->protected;
		rest->snapshot += s->snapshot;
		if (policy_is_worth(s, percent))
			rest->others += dead;
		else
			rest->spared += dead;
	}
}

/* Opens the volume for one batch; returns as clean_batch(). */
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
			ret = facts_estimate(f, cx, c->o->policy, c->o->goal,
					     c->o->min_dead, &c->k.to_move);
	}
	if (!ret) {
		ret = clean_batch(c, cx);
		if (!ret) {
			clean_measure_rest(&c->c->rest, f, c->o->min_dead);
			c->c->short_memory = collector_is_sated(&c->k) && !c->k.most;
		}
	}
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
