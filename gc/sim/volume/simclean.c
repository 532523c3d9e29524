// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cleaner.
 *
 * It works in steps, like nilfs_cleanerd: victims are chosen, their live blocks
 * moved, the metadata flushed, and they are clean.  Victims are chosen by
 * policy_next() of gc.nilfs2 over all segments, without clean and open ones and
 * those chosen already.  If time alone changes no order a tournament finds the
 * same one faster.  If a round needs many the order of an ageing policy is
 * computed once per round.
 *
 * nilfs_cleanerd examines the victims of a step only to see that they have
 * little to reclaim in total, and then updates their times, so that others come
 * first.  As times are seconds, segments written, moved or skipped in the
 * current second are no candidates; if there is no other it waits for the
 * user's next second.
 */
#include "gc/sim/volume/simclean.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gc/plan/policy.h"
#include "gc/sim/volume/simvol.h"

/* Rounds of this many segments compute the order once. */
#define MANY 64u
#define AHEAD 16u

/*
 * The tournament.
 *
 * Leaves after the last segment, and those that are taken, are worse than all
 * others.  Among equals the left one, which has the lower number, wins, unless
 * others are preferred.
 */

#define NONE UINT32_MAX

/* The winner of child I, a node, or a leaf after the last node. */
static uint32_t tree_child(const struct simtree *t, uint32_t i)
{
	if (i < t->leaves)
		return t->winners[i];
	i -= t->leaves;
	return i < t->order->n && !t->order->taken[i] ? i : NONE;
}

/* The better one of the children of node I. */
static uint32_t tree_winner(const struct simtree *t, uint32_t i)
{
	uint32_t a = tree_child(t, 2 * i), b = tree_child(t, 2 * i + 1);
	const struct policy_order *o = t->order;
	uint64_t x, y;

	if (a == NONE || b == NONE)
		return a == NONE ? b : a;
	x = o->policy->importance(&o->segments[a], o->env);
	y = o->policy->importance(&o->segments[b], o->env);
	if (y == x && t->has_ties)
		return simchoice_prefers(t->choice, a, b) ? b : a;
	return y > x ? b : a;
}

static uint32_t leaves_for(size_t n)
{
	uint32_t leaves = 2;

	while (leaves < n)
		leaves *= 2;
	return leaves;
}

/*
 * Whether SEGNUM is no candidate.  If holes are written, segments without holes
 * are no candidates, as f2fs only examines dirty ones; nor are those that the
 * placement reserves.
 */
static bool is_taken(const struct simclean *c, uint32_t segnum)
{
	const struct simvol *v = c->vol;
	const struct simplace_kind *k = v->place.kind;

	if (v->state[segnum] != SIMVOL_FULL)
		return true;
	return c->is_bounded &&
	       ((v->config.holes &&
		 v->needed[segnum] == v->segments[segnum].written) ||
		(k->guards && k->guards(v, segnum)));
}

static void segment_changed(void *arg, uint32_t segnum)
{
	struct simclean *c = arg;
	struct simtree *t = &c->tree;
	bool taken = is_taken(c, segnum);
	uint32_t i, before;

	/* Other changes of a segment that is not a candidate have no effect. */
	if (taken && c->order.taken[segnum])
		return;
	if (c->has_choice && c->order.taken[segnum] != taken)
		simchoice_changed(&c->choice, segnum, !taken);
	c->order.taken[segnum] = taken;
	if (!c->has_tree)
		return;
	for (i = (segnum + t->leaves) / 2; i > 0; i /= 2) {
		before = t->winners[i];
		t->winners[i] = tree_winner(t, i);
		/*
		 * It was not the winner and is not now: the nodes above stay
		 * unchanged.
		 */
		if (t->winners[i] == before && before != segnum)
			break;
	}
}

/*
 * A segment with holes for LOG, written by it before: the one with most holes
 * of the next few from the end of the last search of either kind, as in f2fs.
 */
static int64_t choose_holes(void *arg, unsigned int log)
{
	struct simclean *c = arg;
	const struct simvol *v = c->vol;
	struct policy_order *o = &c->order;
	uint32_t n = v->config.nsegments, step, i, taken, least = NONE;
	uint64_t looked = 0;
	int64_t best = -1;

	for (step = 0; step < n && looked < c->config.env.max_search; step++) {
		i = (uint32_t)((o->next + step) % n);
		if (v->state[i] != SIMVOL_FULL || v->origin[i].log != log)
			continue;
		taken = simhistory_holes_taken(v, i);
		if (taken >= v->segments[i].written)
			continue;
		looked++;
		if (taken >= least)
			continue;
		least = taken;
		best = i;
	}
	o->next = (o->next + step) % n;
	return best;
}

/* Whether only changes of segments change the order, not time. */
static bool is_steady(const struct simclean_config *config)
{
	const struct policy *policy = config->choice.policy;

	return !policy->ages && !policy->data_first &&
	       !config->env.max_search && !config->choice.kind;
}

/* Whether neither the order of gc.nilfs2 nor a tournament suffices. */
static bool needs_choice(const struct simchoice_config *config)
{
	return config->kind || config->ties || config->root_ages ||
	       config->garbage;
}

/* Whether rounds may use an order that is computed once. */
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

/*
 * The order of all segments: by their state at each choice, or, with MAX_SEARCH
 * of 0, by their present state.
 */
static int open_order(struct simclean *c, uint64_t max_search)
{
	uint32_t n = c->vol->config.nsegments, i;
	int ret;

	policy_close(&c->order);
	c->config.env.nongc_ctime = simvol_time(c->vol);
	c->config.env.max_search = max_search;
	ret = policy_open(&c->order, c->config.choice.policy, &c->config.env,
			  c->vol->segments, n);
	for (i = 0; !ret && i < n; i++)
		c->order.taken[i] = is_taken(c, i);
	return ret;
}

int simclean_open(struct simclean *c, struct context *cx, struct simvol *v,
		  const struct simclean_config *config)
{
	const struct simchoice_config *choice = &config->choice;
	uint32_t n = v->config.nsegments, i;
	bool steady = is_steady(config), chooses = needs_choice(choice);
	struct simtree *t = &c->tree;
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
	/* A step may have all segments as victims. */
	c->victims = calloc(n, sizeof(*c->victims));
	ret = c->victims ? open_order(c, config->env.max_search ?
				      config->env.max_search : n) : -ENOMEM;
	if (!ret && chooses && choice->kind && choice->kind->data_ages)
		ret = simchoice_ages_open(v, cx);
	if (!ret && chooses)
		ret = simchoice_open(&c->choice, v, &c->config.env,
				     c->order.taken, choice);
	if (!ret && steady) {
		*t = (struct simtree){
			.order = &c->order,
			.choice = &c->choice,
			.has_ties = choice->ties != SIMCHOICE_FIRST,
			.leaves = leaves_for(n),
		};
		t->winners = malloc(t->leaves * sizeof(*t->winners));
		ret = t->winners ? 0 : -ENOMEM;
		for (i = t->leaves - 1; !ret && i > 0; i--)
			t->winners[i] = tree_winner(t, i);
	}
	if (ret)
		return fail(cx, ret, "cleaner");
	c->has_tree = steady;
	c->has_choice = chooses;
	v->changed = segment_changed;
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
	policy_close(&c->order);
	simchoice_close(&c->choice);
	free(c->tree.winners);
	c->tree.winners = NULL;
	free(c->victims);
	c->victims = NULL;
}

int64_t simclean_choose(struct simclean *c)
{
	struct simvol *v = c->vol;
	uint64_t now = simvol_time(v);
	int64_t i = -1;

	c->config.env.nongc_ctime = now;
	if (v->place.kind->victim)
		i = v->place.kind->victim(v);
	if (i < 0 && c->has_tree) {
		/*
		 * The winner, if it has enough garbage; otherwise all are
		 * examined.
		 */
		if (c->tree.winners[1] != NONE)
			i = c->tree.winners[1];
		if (i >= 0 && c->config.choice.garbage &&
		    !simchoice_is_rich(&c->choice, (uint32_t)i))
			i = simchoice_next(&c->choice);
	} else if (i < 0) {
		i = c->has_choice ? simchoice_next(&c->choice) :
				    policy_next(&c->order, v->nclean);
	}
	/* If the oldest is of this second, all are. */
	if (i < 0 || (v->config.second && v->segments[i].lastmod >= now))
		return -1;
	simvol_set_state(v, (uint32_t)i, SIMVOL_VICTIM);
	return i;
}

/* Moves the needed blocks of SEGNUM, and counts the others. */
static int clean_segment(struct simvol *v, struct context *cx, uint32_t segnum)
{
	uint32_t place = segnum * v->config.blocks, id, ahead;
	uint32_t end = place + v->segments[segnum].written;
	const uint32_t *owner = v->owner, *at = v->at;
	int ret = 0;

	if (v->place.kind->clean)
		v->place.kind->clean(v, segnum);
	for (; place < end && !ret; place++) {
		/* Accesses to the map are scattered: prefetch. */
		ahead = place + AHEAD;
		if (ahead < v->nplaces && owner[ahead] != SIMVOL_NONE)
			__builtin_prefetch(&at[owner[ahead]]);
		id = owner[place];
		if (id == SIMVOL_NONE) {
			v->totals.reclaimed_summary++;
		} else if (at[id] != place) {
			if (!v->birth || !simhistory_is_held(v, place)) {
				v->totals.reclaimed[simvol_kind_of(v, id)]++;
				continue;
			}
			v->totals.held++;
			ret = simvol_append_held(v, cx, simvol_log_of(v, id,
						 SIMPLACE_HELD), place);
		} else if (id >= v->config.data) {
			simlayers_move(v, id);
		} else {
			ret = simvol_append(v, cx, simvol_log_of(v, id,
					    SIMPLACE_MOVED), id, true);
			if (ret)
				break;
			v->totals.moved[SIMVOL_DATA]++;
			simlayers_touch(v, id, true);
		}
	}
	v->totals.cleaned++;
	return ret;
}

/* Makes one step: 1, or 0 if there is no victim. */
static int run_step(struct simclean *c, struct context *cx)
{
	const struct simclean_config *config = &c->config;
	struct simvol *v = c->vol;
	uint64_t n = v->config.nsegments, looked = 0, blocks, dead, least;
	uint32_t i, step;
	int64_t victim;
	int ret = 0;

	/*
	 * Choose up to a step's victims.  If all together have fewer dead blocks
	 * than the minimum they are skipped now.
	 */
	for (;;) {
		bool few = v->nclean < config->low;

		step = few ? config->mc_step : config->step;
		c->nvictims = 0;
		while (c->nvictims < step && (victim = simclean_choose(c)) >= 0)
			c->victims[c->nvictims++] = (uint32_t)victim;
		least = few ? config->mc_min_reclaimable :
			      config->min_reclaimable;
		/*
		 * All segments were examined: now a tenth of the minimum
		 * suffices.
		 */
		if (looked >= n && !v->config.second)
			least = looked < 2 * n ? least / 10 : 0;
		blocks = dead = (uint64_t)v->config.blocks * c->nvictims;
		for (i = 0; i < c->nvictims; i++)
			dead -= v->needed[c->victims[i]];
		if (dead * 100 >= least * blocks)
			break;
		looked += c->nvictims;
		for (i = 0; i < c->nvictims; i++) {
			v->segments[c->victims[i]].lastmod = simvol_time(v);
			v->totals.skipped++;
			simvol_set_state(v, c->victims[i], SIMVOL_FULL);
		}
	}
	for (i = 0; c->chosen && i < c->nvictims; i++)
		c->chosen(c->arg, &v->segments[c->victims[i]]);
	for (i = 0; i < c->nvictims && !ret; i++)
		ret = clean_segment(v, cx, c->victims[i]);
	if (!ret && simmeta_dirty(v))
		ret = simmeta_flush(v, cx);
	for (i = 0; i < c->nvictims && !ret; i++)
		simvol_release(v, c->victims[i]);
	return ret ? ret : c->nvictims != 0;
}

int simclean_round(struct simclean *c, struct context *cx)
{
	struct simvol *v = c->vol;
	uint64_t steps = 0, n = v->config.nsegments, cleaned, metadata;
	const struct simvol_totals before = v->totals;
	uint32_t high = c->config.high;
	bool frozen = may_freeze(&c->config) &&
		      c->config.env.max_search >= n && high - v->nclean >= MANY;
	int ret = 1;

	v->totals.rounds++;
	if (c->config.choice.garbage) {
		ret = run_step(c, cx);
		return ret < 0 ? ret : 0;
	}
	/* The present order is used for the rest of the round. */
	if (frozen && open_order(c, 0))
		return fail(cx, -ENOMEM, "order of segments");
	while (ret > 0 && v->nclean < high && steps++ < 4 * n)
		ret = run_step(c, cx);
	if (ret >= 0 && frozen && open_order(c, n))
		return fail(cx, -ENOMEM, "order of segments");
	if (ret < 0)
		return ret;
	c->goes_on = v->config.second && v->nclean < high;
	if (c->goes_on || v->nclean >= c->config.low)
		return 0;
	cleaned = v->totals.cleaned - before.cleaned;
	metadata = v->totals.written[SIMVOL_NODE] +
		   v->totals.written[SIMVOL_DAT] -
		   before.written[SIMVOL_NODE] - before.written[SIMVOL_DAT];
	if (!metadata)
		return fail(cx, -ENOSPC, "cleaning gains nothing after %" PRIu64
			    " blocks of the user", v->totals.user);
	return fail(cx, -ENOSPC, "cleaning gains nothing after %" PRIu64
		    " blocks of the user: %" PRIu64 " segments were cleaned in "
		    "steps of %" PRIu32 ", which wrote %" PRIu64 " blocks of "
		    "metadata and moved %" PRIu64 " of data; a larger --step "
		    "writes less metadata, a smaller --low leaves more room",
		    v->totals.user, cleaned, c->config.step, metadata,
		    v->totals.moved[SIMVOL_DATA] - before.moved[SIMVOL_DATA]);
}
