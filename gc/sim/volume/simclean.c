// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cleaner.
 *
 * It works in steps, like nilfs_cleanerd: victims are chosen, their live blocks
 * moved, the metadata flushed, and they are clean.  Victims are chosen by
 * policy_next() of gc.nilfs2 over all segments, skipping those that are clean,
 * open or victims already.  If time alone changes nothing a tournament finds
 * the same one faster, and if a round needs many the order of an ageing policy
 * is computed once per round.
 *
 * nilfs_cleanerd examines the victims of a step only to see that they have
 * little to reclaim in total, and then updates their times, so that others come
 * first.  As times are seconds, segments written, moved or skipped in the
 * current second are no candidates; if no other is left it waits for the user's
 * next second.
 */
#include "gc/sim/volume/simclean.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gc/plan/policy.h"
#include "gc/sim/volume/simvol.h"

/* Rounds of so many segments have an order made once. */
#define MANY 64u
#define AHEAD 16u

/*
 * The tournament.
 *
 * Leaves past the last segment, and those that are taken, are worse than all
 * others.  Among equals the left one wins, which has the lower number, unless
 * others are preferred.
 */

#define NONE UINT32_MAX

static uint64_t importance(const struct simtree *t, uint32_t index)
{
	const struct policy_order *o = t->order;

	return o->policy->importance(&o->segments[index], o->env);
}

static uint32_t leaf(const struct simtree *t, uint32_t index)
{
	return index < t->order->n && !t->order->taken[index] ? index : NONE;
}

static uint32_t better(const struct simtree *t, uint32_t a, uint32_t b)
{
	uint64_t x, y;

	if (a == NONE || b == NONE)
		return a == NONE ? b : a;
	x = importance(t, a);
	y = importance(t, b);
	if (y == x && t->has_ties)
		return simchoice_prefers(t->choice, a, b) ? b : a;
	return y > x ? b : a;
}

/* The winner of child I, which is a node or, past the last, a leaf. */
static uint32_t child(const struct simtree *t, uint32_t i)
{
	return i < t->leaves ? t->winners[i] : leaf(t, i - t->leaves);
}

static uint32_t leaves_for(size_t n)
{
	uint32_t leaves = 2;

	while (leaves < n)
		leaves *= 2;
	return leaves;
}

/* -ENOMEM; to be closed also then. */
static int simtree_open(struct simtree *t, const struct policy_order *order,
			const struct simchoice *choice)
{
	uint32_t i;

	*t = (struct simtree){
		.order = order,
		.choice = choice,
		.has_ties = choice->config.ties != SIMCHOICE_FIRST,
	};
	t->leaves = leaves_for(order->n);
	t->winners = malloc(t->leaves * sizeof(*t->winners));
	if (!t->winners)
		return -ENOMEM;
	for (i = t->leaves - 1; i > 0; i--)
		t->winners[i] = better(t, child(t, 2 * i), child(t, 2 * i + 1));
	return 0;
}

static void simtree_close(struct simtree *t)
{
	free(t->winners);
	t->winners = NULL;
}

/* Segment INDEX, or whether it is taken, has changed. */
static void simtree_update(struct simtree *t, uint32_t index)
{
	uint32_t i = (index + t->leaves) / 2, before;

	for (; i > 0; i /= 2) {
		before = t->winners[i];
		t->winners[i] = better(t, child(t, 2 * i), child(t, 2 * i + 1));
		/*
		 * It was not the winner and is not now: the nodes above do not
		 * change.
		 */
		if (t->winners[i] == before && before != index)
			break;
	}
}

/* The best that is not taken, which policy_next() would find; or -1. */
static int64_t simtree_best(const struct simtree *t)
{
	return t->winners[1] == NONE ? -1 : (int64_t)t->winners[1];
}

/*
 * Where holes are written, segments without any are no candidates, as f2fs only
 * looks at what it calls dirty; nor is what the placement keeps.
 */
static bool is_beyond(const struct simvol *v, uint32_t segnum)
{
	const struct simplace_kind *k = v->place.kind;

	return (v->config.holes &&
		v->needed[segnum] == v->segments[segnum].written) ||
	       (k->guards && k->guards(v, segnum));
}

/* Whether SEGNUM is no candidate. */
static bool is_taken(const struct simclean *c, uint32_t segnum)
{
	return c->vol->state[segnum] != SIMVOL_FULL ||
	       (c->is_bounded && is_beyond(c->vol, segnum));
}

static void changed(void *arg, uint32_t segnum)
{
	struct simclean *c = arg;
	bool taken = is_taken(c, segnum);

	/* Other changes of a segment that is not a candidate do not matter. */
	if (taken && c->order.taken[segnum])
		return;
	if (c->has_choice && c->order.taken[segnum] != taken)
		simchoice_changed(&c->choice, segnum, !taken);
	c->order.taken[segnum] = taken;
	if (c->has_tree)
		simtree_update(&c->tree, segnum);
}

static void mark_all(struct simclean *c)
{
	uint32_t i;

	for (i = 0; i < c->vol->config.nsegments; i++)
		c->order.taken[i] = is_taken(c, i);
}

/* Whether SEGNUM has holes, and was written by LOG. */
static bool has_holes(const struct simclean *c, uint32_t segnum,
		      unsigned int log)
{
	const struct simvol *v = c->vol;

	return v->state[segnum] == SIMVOL_FULL && v->past[segnum].log == log &&
	       simholes_taken(v, segnum) < v->segments[segnum].written;
}

/*
 * A segment with holes for LOG: that with the most of them, of the next few
 * from where the last search of either kind has ended, as in f2fs.
 */
static int64_t choose_holes(void *arg, unsigned int log)
{
	struct simclean *c = arg;
	struct policy_order *o = &c->order;
	uint32_t n = c->vol->config.nsegments, step, i, taken, least = NONE;
	uint64_t looked = 0;
	int64_t best = -1;

	for (step = 0; step < n && looked < c->config.env.max_search; step++) {
		i = (uint32_t)((o->next + step) % n);
		if (!has_holes(c, i, log))
			continue;
		looked++;
		taken = simholes_taken(c->vol, i);
		if (taken >= least)
			continue;
		least = taken;
		best = i;
	}
	o->next = (o->next + step) % n;
	return best;
}

/* Whether only segments' own changes change the order. */
static bool is_steady(const struct simclean_config *config)
{
	const struct policy *policy = config->choice.policy;

	return !policy->ages && !policy->data_first &&
	       !config->env.max_search && !config->choice.kind;
}

/* Whether the order of gc.nilfs2, and a tournament, are not enough. */
static bool needs_choice(const struct simchoice_config *config)
{
	return config->kind || config->ties || config->root_ages ||
	       config->garbage;
}

/* Whether rounds may have an order that is made once. */
static bool may_freeze(const struct simclean_config *config)
{
	return config->choice.policy->ages && !needs_choice(&config->choice) &&
	       !config->min_reclaimable && !config->mc_min_reclaimable &&
	       config->high >= MANY;
}

uint64_t simclean_bytes(const struct simclean_config *config, uint32_t n)
{
	const struct simclean *c = NULL;
	uint64_t bytes = n * sizeof(*c->order.taken);

	if (is_steady(config))
		bytes += leaves_for(n) * sizeof(*c->tree.winners);
	if (needs_choice(&config->choice))
		bytes += n * (2 * sizeof(*c->choice.older) +
			      sizeof(*c->choice.ranks));
	if (may_freeze(config))
		bytes += n * sizeof(*c->order.rank);
	return bytes;
}

static int open_choice(struct simclean *c, struct context *cx)
{
	const struct simchoice_config *config = &c->config.choice;

	if (config->kind && config->kind->data_ages && simages_open(c->vol, cx))
		return -ENOMEM;
	return simchoice_open(&c->choice, c->vol, &c->config.env,
			      c->order.taken, config);
}

/* An order that uses the current segments at each choice. */
static int open_order(struct simclean *c)
{
	uint32_t n = c->vol->config.nsegments;
	int ret;

	if (!c->config.env.max_search)
		c->config.env.max_search = n;
	ret = policy_open(&c->order, c->config.choice.policy, &c->config.env,
			  c->vol->segments, n);
	if (!ret)
		mark_all(c);
	return ret;
}

int simclean_open(struct simclean *c, struct context *cx, struct simvol *v,
		  const struct simclean_config *config)
{
	bool steady = is_steady(config);
	int ret;

	*c = (struct simclean){
		.config = *config,
		.vol = v,
		.is_bounded = v->config.holes || v->place.kind->guards,
	};
	if (!c->config.step)
		c->config.step = 1;
	if (!c->config.mc_step)
		c->config.mc_step = c->config.step;
	/* Of all segments, if a step is that long. */
	c->victims = calloc(v->config.nsegments, sizeof(*c->victims));
	ret = c->victims ? open_order(c) : -ENOMEM;
	if (!ret && needs_choice(&config->choice))
		ret = open_choice(c, cx);
	if (!ret && steady)
		ret = simtree_open(&c->tree, &c->order, &c->choice);
	if (ret)
		return fail(cx, ret, "cleaner");
	c->has_tree = steady;
	c->has_choice = needs_choice(&config->choice);
	v->changed = changed;
	v->changed_arg = c;
	v->holes.choose = choose_holes;
	v->holes.arg = c;
	return 0;
}

void simclean_close(struct simclean *c)
{
	if (c->vol) {
		c->vol->changed = NULL;
		c->vol->holes.choose = NULL;
	}
	simtree_close(&c->tree);
	policy_close(&c->order);
	simchoice_close(&c->choice);
	free(c->victims);
	c->victims = NULL;
}

/* Of this second: if the oldest is, all are. */
static bool is_too_young(const struct simclean *c, uint32_t segnum)
{
	return c->vol->config.second &&
	       c->vol->segments[segnum].lastmod >= simvol_time(c->vol);
}

/* By a tournament, if the winner has garbage enough; all are looked at else. */
static int64_t choose_next(struct simclean *c)
{
	int64_t i = c->vol->place.kind->victim ?
			    c->vol->place.kind->victim(c->vol) : -1;

	if (i >= 0)
		return i;
	if (!c->has_tree)
		return c->has_choice ? simchoice_next(&c->choice) :
				       policy_next(&c->order, c->vol->nclean);
	i = simtree_best(&c->tree);
	if (i < 0 || !c->config.choice.garbage ||
	    simchoice_is_rich(&c->choice, (uint32_t)i))
		return i;
	return simchoice_next(&c->choice);
}

int64_t simclean_choose(struct simclean *c)
{
	int64_t i;

	c->config.env.nongc_ctime = simvol_time(c->vol);
	i = choose_next(c);
	if (i < 0 || is_too_young(c, (uint32_t)i))
		return -1;
	simvol_set_state(c->vol, (uint32_t)i, SIMVOL_VICTIM);
	return i;
}

/* Percent of dead blocks that victims must have, after LOOKED were examined. */
static uint64_t least_dead(const struct simclean *c, uint64_t looked)
{
	uint64_t n = c->vol->config.nsegments;
	uint64_t least = c->vol->nclean < c->config.low ?
				 c->config.mc_min_reclaimable :
				 c->config.min_reclaimable;

	/* All of them were examined: now a tenth of that is enough. */
	if (looked >= n && !c->vol->config.second)
		return looked < 2 * n ? least / 10 : 0;
	return least;
}

/* Whether the victims of a step, all together, are left alone now. */
static bool are_poor(const struct simclean *c, uint64_t looked)
{
	uint64_t blocks = (uint64_t)c->vol->config.blocks * c->nvictims;
	uint64_t dead = blocks;
	uint32_t i;

	for (i = 0; i < c->nvictims; i++)
		dead -= c->vol->needed[c->victims[i]];
	return dead * 100 < least_dead(c, looked) * blocks;
}

static void skip(struct simclean *c, uint32_t segnum)
{
	c->vol->segments[segnum].lastmod = simvol_time(c->vol);
	c->vol->totals.skipped++;
	simvol_set_state(c->vol, segnum, SIMVOL_FULL);
}

static void choose_step(struct simclean *c)
{
	uint32_t n = c->vol->nclean < c->config.low ? c->config.mc_step :
						      c->config.step;
	int64_t i;

	c->nvictims = 0;
	while (c->nvictims < n && (i = simclean_choose(c)) >= 0)
		c->victims[c->nvictims++] = (uint32_t)i;
}

/* Up to a step's victims. */
static void choose_worthwhile(struct simclean *c)
{
	uint64_t looked = 0;
	uint32_t i;

	for (;;) {
		choose_step(c);
		if (!are_poor(c, looked))
			break;
		looked += c->nvictims;
		for (i = 0; i < c->nvictims; i++)
			skip(c, c->victims[i]);
	}
	for (i = 0; c->chosen && i < c->nvictims; i++)
		c->chosen(c->arg, &c->vol->segments[c->victims[i]]);
}

static int move_block(struct simvol *v, struct context *cx, uint32_t id)
{
	int ret;

	if (id >= v->config.data) {
		simmeta_move(v, id);
		return 0;
	}
	ret = simvol_append(v, cx, simvol_log_of(v, id, SIMPLACE_MOVED), id);
	if (ret)
		return ret;
	v->totals.moved[SIMVOL_DATA]++;
	simmeta_touch(v, id, true);
	return 0;
}

static int move_past(struct simvol *v, struct context *cx, uint32_t place)
{
	uint32_t id = v->owner[place];

	v->totals.held++;
	return simvol_append_past(v, cx, simvol_log_of(v, id, SIMPLACE_PAST),
				  place);
}

/* Moves what is needed of PLACE, or counts what is not. */
static int clean_place(struct simvol *v, struct context *cx, uint32_t place)
{
	uint32_t id = v->owner[place];

	if (id == SIMVOL_NONE) {
		v->totals.reclaimed_summary++;
		return 0;
	}
	if (v->at[id] == place)
		return move_block(v, cx, id);
	if (v->birth && simvol_is_held(v, place))
		return move_past(v, cx, place);
	v->totals.reclaimed[simvol_kind_of(v, id)]++;
	return 0;
}

/* Accesses to the map are scattered: prefetch. */
static void look_ahead(const struct simvol *v, uint32_t place)
{
	if (place < v->nplaces && v->owner[place] != SIMVOL_NONE)
		__builtin_prefetch(&v->at[v->owner[place]]);
}

static int clean_segment(struct simvol *v, struct context *cx, uint32_t segnum)
{
	uint32_t first = segnum * v->config.blocks, i;
	uint32_t written = v->segments[segnum].written;
	int ret = 0;

	if (v->place.kind->clean)
		v->place.kind->clean(v, segnum);
	for (i = 0; i < written && !ret; i++) {
		look_ahead(v, first + i + AHEAD);
		ret = clean_place(v, cx, first + i);
	}
	v->totals.cleaned++;
	return ret;
}

/* One step: 1, or 0 where there is no victim. */
static int run_step(struct simclean *c, struct context *cx)
{
	uint32_t i;
	int ret = 0;

	choose_worthwhile(c);
	for (i = 0; i < c->nvictims && !ret; i++)
		ret = clean_segment(c->vol, cx, c->victims[i]);
	if (!ret && simmeta_dirty(c->vol))
		ret = simmeta_flush(c->vol, cx);
	for (i = 0; i < c->nvictims && !ret; i++)
		simvol_release(c->vol, c->victims[i]);
	return ret ? ret : c->nvictims != 0;
}

/* Whether the order may be the same for the round: see MANY. */
static bool is_long_round(const struct simclean *c)
{
	return may_freeze(&c->config) &&
	       c->config.env.max_search >= c->vol->config.nsegments &&
	       c->config.high - c->vol->nclean >= MANY;
}

/* For the rest of the round the order is what it is now. */
static int freeze_order(struct simclean *c)
{
	struct policy_env *env = &c->config.env;
	int ret;

	policy_close(&c->order);
	env->nongc_ctime = simvol_time(c->vol);
	env->max_search = 0;
	ret = policy_open(&c->order, c->config.choice.policy, env, c->vol->segments,
			  c->vol->config.nsegments);
	if (!ret)
		mark_all(c);
	return ret;
}

static int thaw_order(struct simclean *c)
{
	policy_close(&c->order);
	c->config.env.max_search = c->vol->config.nsegments;
	return open_order(c);
}

static int run_steps(struct simclean *c, struct context *cx)
{
	uint64_t steps = 0, most = 4ull * c->vol->config.nsegments;
	int ret = 1;

	while (ret > 0 && c->vol->nclean < c->config.high && steps++ < most)
		ret = run_step(c, cx);
	return ret < 0 ? ret : 0;
}

int simclean_round(struct simclean *c, struct context *cx)
{
	bool frozen = is_long_round(c);
	int ret;

	c->vol->totals.rounds++;
	if (c->config.choice.garbage) {
		ret = run_step(c, cx);
		return ret < 0 ? ret : 0;
	}
	if (frozen && freeze_order(c))
		return fail(cx, -ENOMEM, "order of segments");
	ret = run_steps(c, cx);
	if (!ret && frozen && thaw_order(c))
		return fail(cx, -ENOMEM, "order of segments");
	if (ret)
		return ret;
	c->goes_on = c->vol->config.second && c->vol->nclean < c->config.high;
	if (!c->goes_on && c->vol->nclean < c->config.low)
		return fail(cx, -ENOSPC, "cleaning gains nothing after %" PRIu64
			    " blocks of the user", c->vol->totals.user);
	return 0;
}
