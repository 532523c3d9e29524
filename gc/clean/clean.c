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
#include <stdlib.h>

#include "base/array.h"
#include "gc/clean/estimate.h"
#include "gc/clean/scarce.h"
#include "gc/move/collector.h"

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

	while (ret >= 0 && collector_gain(&c->k) < goal) {
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
		for (j = 0; j < l->nvictims; j++)
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
	if (ret || c->k.facts.clean || c->k.totals.batches || !is_any_worth(c))
		return ret;
	return fail(cx, -ENOSPC, "no segment is clean, and the %" PRIu64
		    " blocks after the latest log are too few to clean with; "
		    "--output makes a compact copy, --grow adds segments",
		    room);
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
	int ret = collector_move(&c->k, cx, &c->o->how.batch);

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
