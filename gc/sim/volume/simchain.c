// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A chain of groups.
 *
 * If Q segments enter a group in the time of one segment of the user, and the
 * group has S, segments leave it after S / Q.  The age of its blocks is then
 * the sum of the times in all groups so far.  The share of live blocks follows
 * from the distribution of lifetimes.  The last group is cleaned by its dead
 * blocks, which die uniformly, so it behaves like one log of uniform writes
 * (Desnoyers, SYSTOR 2012), with A = 1 / (1 - exp(-a / A)).
 *
 * If the cleaner works in rounds, sizes are those after a round.  Until the next
 * one the user writes as many segments as it made clean, so blocks that leave a
 * group are older by any time up to that.
 *
 * The hot group has, by the paper's rule, the blocks of the shortest lifetimes:
 * those below t, where t times their share of the writes is its size.
 */
#include "gc/sim/volume/simchain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define PASSES 4u	/* number of times that sizes are tried */
#define TRIES 400u	/* approximate number of sizes tried per group */

int simchain_open(struct simchain *c, struct context *cx, size_t times)
{
	*c = (struct simchain){ .times = times };
	c->counts = calloc(times, sizeof(*c->counts));
	c->dead = calloc(times + 1, sizeof(*c->dead));
	c->living = calloc(times + 1, sizeof(*c->living));
	if (!c->counts || !c->dead || !c->living)
		return fail(cx, -ENOMEM, "lives of blocks");
	return 0;
}

void simchain_close(struct simchain *c)
{
	free(c->counts);
	free(c->dead);
	free(c->living);
	*c = (struct simchain){ 0 };
}

/*
 * The sum of living is the number of live blocks among all written before a
 * time.
 */
void simchain_settle(struct simchain *c)
{
	uint64_t sum = 0;
	size_t i;

	c->dead[0] = c->living[0] = 0;
	for (i = 0; i < c->times; i++) {
		sum += c->counts[i];
		c->dead[i + 1] = c->total ? (double)sum / (double)c->total : 0;
		c->living[i + 1] = c->living[i] +
				   1 - (c->dead[i] + c->dead[i + 1]) / 2;
	}
}

/* Interpolates VALUES at TIME; after the end, the last one. */
static double chain_interpolate(const struct simchain *c, const double *values,
				double time)
{
	size_t i = (size_t)time;

	if (!(time < (double)c->times))
		return values[c->times];
	return values[i] + (time - (double)i) * (values[i + 1] - values[i]);
}

/* Segments written for one of the user if a share U of all places is live. */
static double uniform_cost(double u)
{
	double low = 1, high = 1e6, a, middle;
	int i;

	if (!(u < 1))
		return INFINITY;
	a = 1 / fmax(u, 1e-6);
	for (i = 0; i < 60; i++) {
		middle = (low + high) / 2;
		if (middle < 1 / (1 - exp(-a / middle)))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * The number of live blocks among those entered into the chain between FROM and
 * TO ago, if none dies before BEGIN, until which ALL of them are live.
 */
static double chain_living(const struct simchain *c, double begin, double all,
			   double from, double to)
{
	double young = fmax(fmin(to, begin) - from, 0), after;

	if (all <= 0)
		return to - from;
	after = chain_interpolate(c, c->living, fmax(to, begin)) -
		chain_interpolate(c, c->living, fmax(from, begin));
	return young + after / all;
}

/* The live share of blocks that are between TIME and ROUND more old. */
static double chain_surviving(const struct simchain *c, double begin, double all,
			      double time)
{
	if (c->round > 0)
		return chain_living(c, begin, all, time, time + c->round) /
		       c->round;
	if (time <= begin || all <= 0)
		return 1;
	return (1 - chain_interpolate(c, c->dead, time)) / all;
}

double simchain_amplification(double hot, const double *valid,
			      uint32_t groups)
{
	double traffic = 1 - hot + hot * valid[0], sum = 1 + hot * valid[0];
	uint32_t g;

	for (g = 1; g + 1 < groups; g++) {
		traffic *= valid[g];
		sum += traffic;
	}
	/* In the last group they stay until they die. */
	return sum + traffic * valid[g] / (1 - valid[g]);
}

void simchain_cost(const struct simchain *c, struct simchain_sizes *s,
		   double segments, double live)
{
	double begin = 0, hot = 0, enters = 1, time = 0, all, flow, left;
	double entered = 1, stays;
	uint32_t g, last = s->groups - 1;
	size_t i;

	segments -= s->size[0];
	if (s->size[0] && c->hot_traffic > 0) {
		begin = (s->size[0] - 0.5) / c->hot_traffic;
		hot = c->hot_traffic;
		enters = 1 - hot + hot * c->hot_valid;
		live -= hot * chain_interpolate(c, c->living, begin);
	} else if (s->size[0]) {
		for (i = 1; i < c->times &&
			    (double)i * c->dead[i] < s->size[0]; i++)
			;
		begin = (double)i;
		hot = c->dead[i];
		enters = 1 - hot + hot * c->hot_valid;
		/* The live blocks of each written segment. */
		live -= c->living[i] - (double)i * (1 - hot);
	}
	s->valid[0] = s->size[0] ? c->hot_valid : 0;
	s->amplification = INFINITY;
	all = 1 - chain_interpolate(c, c->dead, begin);
	flow = enters;
	for (g = 1; g < last; g++) {
		/* Half of the last segment is not written yet. */
		left = time + (s->size[g] - 0.5) / flow;
		if (!(left + c->round < (double)c->times) || flow < 1e-9)
			return;
		stays = chain_surviving(c, begin, all, left);
		s->valid[g] = stays / entered;
		entered = stays;
		if (all > 0)
			live -= enters * chain_living(c, begin, all, time, left);
		segments -= s->size[g];
		flow *= s->valid[g];
		time = left;
	}
	/* During a round as many enter the last group as died before it. */
	live -= flow * c->round / 2;
	if (segments < 1 || live >= segments)
		return;
	s->size[last] = (uint32_t)segments;
	s->valid[last] = 1 - 1 / uniform_cost(fmax(live, 0) / segments);
	s->amplification = simchain_amplification(hot, s->valid, s->groups);
}

/* Tries all sizes of group G; takes the best where it is better than BEST. */
static void try_sizes(const struct simchain *c, struct simchain_sizes s,
		      uint32_t g, double segments, double live,
		      struct simchain_sizes *best)
{
	uint32_t most = (uint32_t)segments, step = most / TRIES + 1, size;

	for (size = g ? 1 : 0; size < most; size += step) {
		s.size[g] = size;
		simchain_cost(c, &s, segments, live);
		if (s.amplification < best->amplification)
			*best = s;
	}
}

struct simchain_sizes simchain_best(const struct simchain *c, uint32_t groups,
				    bool hot, double segments, double live)
{
	struct simchain_sizes best = { .groups = 2, .size = { c->hot_size } }, s;
	uint32_t g, pass;

	simchain_cost(c, &best, segments, live);
	s = best;
	for (g = 1; g < groups - 1; g++) {
		struct simchain_sizes longer = s;

		longer.groups = g + 2;
		s.amplification = INFINITY;
		try_sizes(c, longer, g, segments, live, &s);
		if (s.amplification == INFINITY)
			break;
		if (s.amplification < best.amplification)
			best = s;
	}
	for (pass = 0; pass < PASSES; pass++)
		for (g = hot ? 0 : 1; g < best.groups - 1; g++)
			try_sizes(c, best, g, segments, live, &best);
	return best;
}
