// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policies of the simulator, which choose a victim by examining segments.
 *
 * random, d-choices: Van Houdt, "A mean field model for a class of garbage
 * collection algorithms in flash-based solid state drives", SIGMETRICS 2013;
 * Li, Lee and Lui, "Stochastic modeling of large-scale solid-state storage
 * systems", SIGMETRICS 2013: the emptiest of a number of random segments.
 *
 * windowed: Hu et al., "Write amplification analysis in flash-based solid state
 * drives", SYSTOR 2009: the emptiest of a number of segments written first.
 *
 * age-threshold: the victims of ATGC, by Chao Yu, "f2fs: support age threshold
 * based garbage collection", Linux 5.10; see choose_by_age().
 *
 * cost-benefit-data: Rosenblum and Ousterhout, TOCS 10(1), 1992: the age of a
 * segment is that of its youngest data, which moving does not change.
 *
 * marginal, not published elsewhere: in a class of L blocks, each of which dies at
 * rate r, victims with a live share u cost r L u / (1 - u) moves in a unit of time
 * and keep L ln(1 / u) / (1 - u) places.  A segment less costs the ratio of the
 * derivatives, r u / (1 - u + u ln u).  Moves are fewest when that is equal in
 * all classes, so the victim is the segment where it is least.  r is the geometric
 * mean of the rate measured for the log of the segment, and of that by which the
 * segment itself has come to u.
 */
#include "gc/sim/volume/simchoice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "gc/sim/volume/simvol.h"

/* Random draws without a candidate, after which the next candidate is used. */
#define DRAWS 64u

/* Roots of ages are compared in this number of fractions. */
#define FRACTIONS 1024.0

bool simchoice_is_rich(const struct simchoice *c, uint32_t segnum)
{
	const struct policy_segment *s = &c->vol->segments[segnum];
	uint64_t dead = s->written - c->vol->needed[segnum];

	return dead * 100 >= (uint64_t)c->config.garbage * s->written;
}

static bool is_candidate(const struct simchoice *c, uint32_t segnum)
{
	return !c->taken[segnum] && simchoice_is_rich(c, segnum);
}

bool simchoice_prefers(const struct simchoice *c, uint32_t a, uint32_t b)
{
	uint64_t x = c->vol->segments[a].lastmod;
	uint64_t y = c->vol->segments[b].lastmod;
	struct simrandom of_a = { c->config.seed ^ a ^ x << 32 };
	struct simrandom of_b = { c->config.seed ^ b ^ y << 32 };

	switch (c->config.ties) {
	case SIMCHOICE_FIRST:
		break;
	case SIMCHOICE_LAST:
		return b > a;
	case SIMCHOICE_OLDEST:
		return y != x ? y < x : b < a;
	case SIMCHOICE_YOUNGEST:
		return y != x ? y > x : b < a;
	case SIMCHOICE_RANDOM:
		return simrandom_next(&of_b) > simrandom_next(&of_a);
	}
	return b < a;
}

/*
 * Replaces BEST, of importance WORTH, by SEGNUM if that is better, by its
 * effective age.
 */
static void consider_victim(const struct simchoice *c, uint32_t segnum, int64_t *best,
			    uint64_t *worth)
{
	const struct policy *p = c->config.policy;
	struct policy_segment s = c->vol->segments[segnum];
	const struct policy_env *used = c->env;
	struct policy_env env;
	uint64_t now, then = s.lastmod, w;

	if (p->ages) {
		if (c->config.kind && c->config.kind->data_ages)
			then = c->vol->ages.youngest[segnum];
		now = simvol_time(c->vol);
		env = *c->env;
		env.nongc_ctime = now > then ? now - then : 0;
		s.lastmod = 0;
		if (c->config.root_ages)
			env.nongc_ctime = (uint64_t)(FRACTIONS *
				sqrt((double)env.nongc_ctime));
		used = &env;
	}
	w = p->importance(&s, used);
	if (*best >= 0 && (w < *worth || (w == *worth &&
	    !simchoice_prefers(c, (uint32_t)*best, segnum))))
		return;
	*best = segnum;
	*worth = w;
}

/* The best of all. */
static int64_t choose_of_all(struct simchoice *c)
{
	uint64_t worth = 0;
	int64_t best = -1;
	uint32_t i;

	for (i = 0; i < c->vol->config.nsegments; i++)
		if (is_candidate(c, i))
			consider_victim(c, i, &best, &worth);
	return best;
}

/*
 * The best of a number of draws, possibly with repetitions.  If no draw finds a
 * candidate, the next one is used.
 */
static int64_t choose_drawn(struct simchoice *c)
{
	uint32_t n = c->vol->config.nsegments, i, k, segnum = 0;
	uint64_t worth = 0;
	int64_t best = -1;
	bool found;

	for (i = 0; i < c->config.parameter; i++) {
		found = false;
		for (k = 0; k < DRAWS && !found; k++) {
			segnum = (uint32_t)simrandom_below(&c->random, n);
			found = is_candidate(c, segnum);
		}
		for (k = 0; k < n && !found; k++) {
			segnum = (segnum + 1) % n;
			found = is_candidate(c, segnum);
		}
		if (!found)
			break;
		consider_victim(c, segnum, &best, &worth);
	}
	return best;
}

/* The best of the segments that became full first. */
static int64_t choose_of_window(struct simchoice *c)
{
	uint32_t n = c->vol->config.nsegments, i, looked = 0;
	int64_t best = -1;
	uint64_t worth = 0;

	for (i = c->oldest; i < n && looked < c->config.parameter;
	     i = c->younger[i]) {
		if (!is_candidate(c, i))
			continue;
		looked++;
		consider_victim(c, i, &best, &worth);
	}
	return best;
}

/* Of f2fs: the oldest 20 %, or 10 if those are fewer; age counts for 60 %. */
#define OLDEST_SHARE 20u
#define OLDEST_LEAST 10u
#define AGE_WEIGHT 60u

static int compare_choice_ranks(const void *a, const void *b)
{
	const struct policy_rank *x = a, *y = b;

	return sort_order(x->importance, y->importance) ?:
	       sort_order(x->index, y->index);
}

void simchoice_sort(struct policy_rank *ranks, size_t n)
{
	sort_in_place(ranks, n, sizeof(*ranks), compare_choice_ranks);
}

/*
 * Victims of f2fs' ATGC: segments with dead blocks that are older than the
 * latest by a threshold, of these the oldest fifth, of these the one with the
 * least cost: 60 % its age, between the oldest and the latest, 40 % its free
 * space.  If none is old enough, there is no threshold.  The time of a segment
 * is the mean of its live data.
 */
static int64_t choose_by_age(struct simchoice *c)
{
	const struct simvol *v = c->vol;
	const struct simvol_ages *a = &v->ages;
	uint64_t latest = 0, time;
	uint32_t n = 0, old = 0, i, most;
	double least = INFINITY, cost, age, dead, range;
	int64_t best = -1;

	for (i = 0; i < v->config.nsegments; i++) {
		if (!is_candidate(c, i) ||
		    v->needed[i] == v->segments[i].written)
			continue;
		time = a->n[i] ? a->sum[i] / a->n[i] : v->segments[i].lastmod;
		c->ranks[n++] = (struct policy_rank){ time, i };
		latest = time > latest ? time : latest;
	}
	simchoice_sort(c->ranks, n);
	while (old < n &&
	       latest - c->ranks[old].importance >= c->config.parameter)
		old++;
	if (!old)
		old = n;
	most = old * OLDEST_SHARE / 100;
	if (most < OLDEST_LEAST)
		most = OLDEST_LEAST;
	for (i = 0; i < old && i < most; i++) {
		const struct policy_rank *r = &c->ranks[i];
		const struct policy_segment *s = &v->segments[r->index];

		range = (double)(latest + 1 - c->ranks[0].importance);
		age = (double)(latest + 1 - r->importance) / range;
		dead = (double)(s->written - v->needed[r->index]) / s->written;
		cost = -(AGE_WEIGHT * age + (100 - AGE_WEIGHT) * dead);
		if (cost >= least)
			continue;
		least = cost;
		best = (int64_t)r->index;
	}
	return best >= 0 ? best : choose_of_all(c);
}

/* Measures how fast blocks die, by log; older deaths and times fade. */
static void measure_rates(struct simchoice *c)
{
	const struct simvol *v = c->vol;
	double time = (double)(v->totals.user - c->measured);
	double keep = exp(-time / (double)v->config.data);
	double live[SIMVOL_LOGS] = { 0 };
	uint32_t i;

	if (time <= 0)
		return;
	c->measured = v->totals.user;
	for (i = 0; i < v->config.nsegments; i++)
		live[v->origin[i].log] += v->needed[i];
	for (i = 0; i < SIMVOL_LOGS; i++) {
		struct simchoice_rate *r = &c->rates[i];

		r->times = keep * r->times + time * live[i];
		r->deaths = keep * r->deaths + (double)(v->died[i] - r->seen);
		r->seen = v->died[i];
	}
}

/* The inverse of what a segment less costs: see above. */
static double worth_of(const struct simchoice *c, uint32_t segnum)
{
	const struct simvol *v = c->vol;
	const struct simchoice_rate *r = &c->rates[v->origin[segnum].log];
	double data = (double)v->config.data, age, of_log, own, u;

	u = (double)v->needed[segnum] / v->segments[segnum].blocks;
	if (u <= 0 || u >= 1)
		return u <= 0 ? INFINITY : 0;
	age = (double)(v->totals.user - v->origin[segnum].ended) + 1;
	/* One death more, of as many blocks as are written meanwhile. */
	of_log = (r->deaths + 1) / (r->times + data);
	own = -log(u) / age;
	return (1 - u + u * log(u)) / (u * sqrt(of_log * own));
}

/* The segment where one less costs the fewest moves, with any placement. */
static int64_t choose_marginal(struct simchoice *c)
{
	double best = -1, worth;
	int64_t victim = -1;
	uint32_t i;

	measure_rates(c);
	for (i = 0; i < c->vol->config.nsegments; i++) {
		if (!is_candidate(c, i))
			continue;
		worth = worth_of(c, i);
		if (worth > best) {
			best = worth;
			victim = i;
		}
	}
	return victim;
}

/* By Van Houdt more choices gain little. */
#define CHOICES 10u
#define WINDOW 100u

static uint64_t no_importance(const struct policy_segment *s,
			      const struct policy_env *env)
{
	(void)s, (void)env;
	return 0;
}

static const struct simchoice_kind kinds[] = {
	{ { "random", "any segment", no_importance, false, false },
	  .parameter = 1, .pick = choose_drawn },
	{ { "d-choices", "the most dead blocks of some at random", policy_dead,
	    false, false },
	  .parameter = CHOICES, .has_parameter = true, .pick = choose_drawn },
	{ { "windowed", "the most dead blocks of the oldest few", policy_dead,
	    false, false },
	  .parameter = WINDOW, .has_parameter = true,
	  .pick = choose_of_window },
	{ { "age-threshold", "by age and dead blocks of the oldest fifth",
	    policy_dead, false, false },
	  .has_parameter = true, .data_ages = true,
	  .pick = choose_by_age },
	{ { "cost-benefit-data", "cost-benefit-lfs by the age of data",
	    policy_cost_benefit_lfs, false, true },
	  .data_ages = true, .pick = choose_of_all },
	{ { "marginal", "where a segment less costs the fewest moves",
	    policy_dead, false, false },
	  .pick = choose_marginal },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const char *simchoice_word(size_t i)
{
	if (i < policy_count)
		return policy_list[i].name;
	i -= policy_count;
	return i < KINDS ? kinds[i].policy.name : NULL;
}

#define DIGITS 9u
#define PARAMETER_MAX 999999999u

bool simchoice_range(size_t i, uint32_t *least, uint32_t *most)
{
	const struct simchoice_kind *k;

	*least = 1;
	*most = UINT32_MAX;
	if (i < policy_count)
		return &policy_list[i] == policy_find("weighted");
	k = &kinds[i - policy_count];
	*least = k->parameter != 0;
	*most = PARAMETER_MAX;
	return k->has_parameter;
}

int simchoice_parse(struct simchoice_policy *p, const char *text)
{
	size_t length = strcspn(text, ":"), digits, i;
	const struct simchoice_kind *k;

	*p = (struct simchoice_policy){ .name = text };
	for (i = 0; i < KINDS; i++)
		if (strlen(kinds[i].policy.name) == length &&
		    !strncmp(kinds[i].policy.name, text, length))
			break;
	if (i == KINDS) {
		p->policy = policy_parse(text, &p->parameter);
		return p->policy ? 0 : -EINVAL;
	}
	k = p->kind = &kinds[i];
	p->policy = &k->policy;
	p->parameter = k->parameter;
	text += length;
	if (!*text)
		return 0;
	digits = strspn(++text, "0123456789");
	if (!k->has_parameter || !digits || digits > DIGITS || text[digits])
		return -EINVAL;
	p->parameter = (uint32_t)strtoul(text, NULL, 10);
	return p->parameter || !k->parameter ? 0 : -EINVAL;
}

int64_t simchoice_next(struct simchoice *c)
{
	return c->config.kind ? c->config.kind->pick(c) : choose_of_all(c);
}

void simchoice_changed(struct simchoice *c, uint32_t segnum, bool full)
{
	uint32_t n = c->vol->config.nsegments;
	uint32_t older = c->older[segnum], younger = c->younger[segnum];

	if (full) {
		older = c->youngest;
		younger = n;
		c->older[segnum] = older;
		c->younger[segnum] = younger;
		*(older < n ? &c->younger[older] : &c->oldest) = segnum;
		c->youngest = segnum;
		return;
	}
	*(older < n ? &c->younger[older] : &c->oldest) = younger;
	*(younger < n ? &c->older[younger] : &c->youngest) = older;
}

int simchoice_open(struct simchoice *c, const struct simvol *v,
		   const struct policy_env *env, const uint8_t *taken,
		   const struct simchoice_config *config)
{
	uint32_t n = v->config.nsegments, full = 0, i;

	*c = (struct simchoice){
		.config = *config,
		.env = env,
		.vol = v,
		.taken = taken,
		.random.state = config->seed,
		.oldest = n,
		.youngest = n,
	};
	c->older = calloc(n, sizeof(*c->older));
	c->younger = calloc(n, sizeof(*c->younger));
	c->ranks = calloc(n, sizeof(*c->ranks));
	if (!c->older || !c->younger || !c->ranks)
		return -ENOMEM;
	/* Segments that are full already, by their times. */
	for (i = 0; i < n; i++)
		if (!taken[i])
			c->ranks[full++] = (struct policy_rank){
				v->segments[i].lastmod, i
			};
	simchoice_sort(c->ranks, full);
	for (i = 0; i < full; i++)
		simchoice_changed(c, (uint32_t)c->ranks[i].index, true);
	return 0;
}

void simchoice_close(struct simchoice *c)
{
	free(c->older);
	free(c->younger);
	free(c->ranks);
	*c = (struct simchoice){ 0 };
}

/*
 * Ages of data, for policies that use these instead of those of segments.  A
 * block that is moved keeps its time.
 */

void simchoice_ages_put(struct simvol *v, uint32_t id, uint32_t old,
			uint32_t segnum, bool moved)
{
	struct simvol_ages *a = &v->ages;

	if (old != SIMVOL_NONE)
		simchoice_ages_drop(v, id, old);
	if (!moved)
		a->of[id] = simvol_time(v);
	a->sum[segnum] += a->of[id];
	a->n[segnum]++;
	if (a->of[id] > a->youngest[segnum])
		a->youngest[segnum] = a->of[id];
}

void simchoice_ages_drop(struct simvol *v, uint32_t id, uint32_t old)
{
	uint32_t segnum = old / v->config.blocks;

	v->ages.sum[segnum] -= v->ages.of[id];
	v->ages.n[segnum]--;
}

int simchoice_ages_open(struct simvol *v, struct context *cx)
{
	struct simvol_ages *a = &v->ages;
	uint32_t n = v->config.nsegments, id, segnum;

	a->of = calloc(v->config.data, sizeof(*a->of));
	a->sum = calloc(n, sizeof(*a->sum));
	a->youngest = calloc(n, sizeof(*a->youngest));
	a->n = calloc(n, sizeof(*a->n));
	if (!a->of || !a->sum || !a->youngest || !a->n)
		return fail(cx, -ENOMEM, "ages of data");
	/* Existing blocks have the age of their segment. */
	for (id = 0; id < v->config.data; id++) {
		if (v->at[id] == SIMVOL_NONE)
			continue;
		segnum = v->at[id] / v->config.blocks;
		a->of[id] = v->segments[segnum].lastmod;
		simchoice_ages_put(v, id, SIMVOL_NONE, segnum, true);
	}
	return 0;
}

