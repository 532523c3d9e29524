// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policies of the simulator, which choose a victim by looking at segments.
 *
 * random, d-choices: Van Houdt, "A mean field model for a class of garbage
 * collection algorithms in flash-based solid state drives", SIGMETRICS 2013;
 * Li, Lee and Lui, "Stochastic modeling of large-scale solid-state storage
 * systems", SIGMETRICS 2013: the emptiest of so many that are drawn at random.
 *
 * windowed: Hu et al., "Write amplification analysis in flash-based solid state
 * drives", SYSTOR 2009: the emptiest of so many that were written first.
 *
 * age-threshold: the victims of ATGC, by Chao Yu, "f2fs: support age threshold
 * based garbage collection", Linux 5.10; see choose_by_age().
 *
 * cost-benefit-data: as Rosenblum and Ousterhout have it, TOCS 10(1), 1992: the
 * age of a segment is that of its youngest data, which does not become younger
 * by being moved.
 */
#include "gc/sim/volume/simchoice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Draws that find no segment: then the next one that is one is taken. */
#define DRAWS 64u

/* Ages are compared by roots with so many fractions. */
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

static uint64_t mix(const struct simchoice *c, uint32_t segnum)
{
	struct simrandom r = {
		c->config.seed ^ segnum ^ c->vol->segments[segnum].lastmod << 32,
	};

	return simrandom_next(&r);
}

bool simchoice_prefers(const struct simchoice *c, uint32_t a, uint32_t b)
{
	uint64_t x = c->vol->segments[a].lastmod;
	uint64_t y = c->vol->segments[b].lastmod;

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
		return mix(c, b) > mix(c, a);
	}
	return b < a;
}

static uint64_t time_of(const struct simchoice *c, uint32_t segnum)
{
	if (c->config.kind && c->config.kind->data_ages)
		return c->vol->ages.youngest[segnum];
	return c->vol->segments[segnum].lastmod;
}

/* How important SEGNUM is, with the age that counts. */
static uint64_t importance(const struct simchoice *c, uint32_t segnum)
{
	const struct policy *p = c->config.policy;
	struct policy_segment s = c->vol->segments[segnum];
	struct policy_env env;
	uint64_t now, then;

	if (!p->ages)
		return p->importance(&s, c->env);
	now = simvol_time(c->vol);
	then = time_of(c, segnum);
	env = *c->env;
	env.nongc_ctime = now > then ? now - then : 0;
	s.lastmod = 0;
	if (c->config.root_ages)
		env.nongc_ctime = (uint64_t)(sqrt((double)env.nongc_ctime) *
					     FRACTIONS);
	return p->importance(&s, &env);
}

/* Notes SEGNUM where it comes before BEST, of which the importance is WORTH. */
static void consider(const struct simchoice *c, uint32_t segnum, int64_t *best,
		     uint64_t *worth)
{
	uint64_t w = importance(c, segnum);

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
			consider(c, i, &best, &worth);
	return best;
}

static int64_t draw_one(struct simchoice *c)
{
	uint32_t n = c->vol->config.nsegments, i, segnum = 0;

	for (i = 0; i < DRAWS; i++) {
		segnum = (uint32_t)simrandom_below(&c->random, n);
		if (is_candidate(c, segnum))
			return segnum;
	}
	for (i = 0; i < n; i++, segnum = (segnum + 1) % n)
		if (is_candidate(c, segnum))
			return segnum;
	return -1;
}

/* The best of so many that are drawn, one of them perhaps several times. */
static int64_t choose_drawn(struct simchoice *c)
{
	int64_t best = -1, segnum;
	uint64_t worth = 0;
	uint32_t i;

	for (i = 0; i < c->config.parameter; i++) {
		segnum = draw_one(c);
		if (segnum < 0)
			break;
		consider(c, (uint32_t)segnum, &best, &worth);
	}
	return best;
}

/* The best of so many that became full first. */
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
		consider(c, i, &best, &worth);
	}
	return best;
}

/* Of f2fs: the oldest 20 %, or 10 if those are fewer; age counts for 60 %. */
#define OLDEST_SHARE 20u
#define OLDEST_LEAST 10u
#define AGE_WEIGHT 60u

static int compare_ranks(const void *a, const void *b)
{
	const struct policy_rank *x = a, *y = b;

	if (x->importance != y->importance)
		return x->importance < y->importance ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void simchoice_sort(struct policy_rank *ranks, size_t n)
{
	sort_in_place(ranks, n, sizeof(*ranks), compare_ranks);
}

/* The mean time of the data of SEGNUM that lives. */
static uint64_t mean_time(const struct simchoice *c, uint32_t segnum)
{
	const struct simvol_ages *a = &c->vol->ages;

	return a->n[segnum] ? a->sum[segnum] / a->n[segnum] :
			      c->vol->segments[segnum].lastmod;
}

/*
 * The segments with dead blocks, by their mean times, the oldest first, and the
 * time of the youngest in *LATEST.
 */
static uint32_t rank_by_age(struct simchoice *c, uint64_t *latest)
{
	uint32_t i, n = 0;

	*latest = 0;
	for (i = 0; i < c->vol->config.nsegments; i++) {
		if (!is_candidate(c, i) ||
		    c->vol->needed[i] == c->vol->segments[i].written)
			continue;
		c->ranks[n] = (struct policy_rank){ mean_time(c, i), i };
		if (c->ranks[n].importance > *latest)
			*latest = c->ranks[n].importance;
		n++;
	}
	simchoice_sort(c->ranks, n);
	return n;
}

/* 60 % how old it is, between the oldest and the latest, 40 % how empty. */
static double cost_of(const struct simchoice *c, const struct policy_rank *r,
		      uint64_t latest)
{
	const struct policy_segment *s = &c->vol->segments[r->index];
	double range = (double)(latest + 1 - c->ranks[0].importance);
	double age = (double)(latest + 1 - r->importance) / range;
	double dead = (double)(s->written - c->vol->needed[r->index]) /
		      s->written;

	return -(AGE_WEIGHT * age + (100 - AGE_WEIGHT) * dead);
}

/*
 * Victims of f2fs' ATGC: segments that are older than the latest by a threshold,
 * of these the oldest fifth, of these the one with the least cost.  If none is
 * so old, there is no threshold.
 */
static int64_t choose_by_age(struct simchoice *c)
{
	uint64_t latest, threshold = c->config.parameter;
	uint32_t n = rank_by_age(c, &latest), old = 0, i, most;
	double least = INFINITY, cost;
	int64_t best = -1;

	while (old < n && latest - c->ranks[old].importance >= threshold)
		old++;
	if (!old)
		old = n;
	most = old * OLDEST_SHARE / 100;
	if (most < OLDEST_LEAST)
		most = OLDEST_LEAST;
	for (i = 0; i < old && i < most; i++) {
		cost = cost_of(c, &c->ranks[i], latest);
		if (cost >= least)
			continue;
		least = cost;
		best = (int64_t)c->ranks[i].index;
	}
	return best >= 0 ? best : choose_of_all(c);
}

/* Van Houdt finds little to be gained by more choices than these. */
#define CHOICES 10u
#define WINDOW 100u

static uint64_t dead(const struct policy_segment *s,
		     const struct policy_env *env)
{
	return policy_find("greedy")->importance(s, env);
}

static uint64_t nothing(const struct policy_segment *s,
			const struct policy_env *env)
{
	(void)s, (void)env;
	return 0;
}

static uint64_t benefit(const struct policy_segment *s,
			const struct policy_env *env)
{
	return policy_find("cost-benefit-lfs")->importance(s, env);
}

static const struct simchoice_kind kinds[] = {
	{ { "random", "any segment", nothing, false, false },
	  .parameter = 1, .pick = choose_drawn },
	{ { "d-choices", "the most dead blocks of some at random", dead, false,
	    false },
	  .parameter = CHOICES, .has_parameter = true, .pick = choose_drawn },
	{ { "windowed", "the most dead blocks of the oldest few", dead, false,
	    false },
	  .parameter = WINDOW, .has_parameter = true,
	  .pick = choose_of_window },
	{ { "age-threshold", "by age and dead blocks of the oldest fifth",
	    dead, false, false },
	  .has_parameter = true, .data_ages = true,
	  .pick = choose_by_age },
	{ { "cost-benefit-data", "cost-benefit-lfs by the age of data",
	    benefit, false, true },
	  .data_ages = true, .pick = choose_of_all },
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

/* TEXT after a colon. */
static int parse_parameter(const char *text, uint32_t *parameter)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > DIGITS || text[digits])
		return -EINVAL;
	*parameter = (uint32_t)strtoul(text, NULL, 10);
	return 0;
}

static int parse_kind(struct simchoice_policy *p, const struct simchoice_kind *k,
		      const char *rest)
{
	p->kind = k;
	p->policy = &k->policy;
	p->parameter = k->parameter;
	if (!*rest)
		return 0;
	if (!k->has_parameter || parse_parameter(rest + 1, &p->parameter))
		return -EINVAL;
	return p->parameter || !k->parameter ? 0 : -EINVAL;
}

int simchoice_parse(struct simchoice_policy *p, const char *text)
{
	size_t length = strcspn(text, ":"), i;

	*p = (struct simchoice_policy){ .name = text };
	for (i = 0; i < KINDS; i++)
		if (strlen(kinds[i].policy.name) == length &&
		    !strncmp(kinds[i].policy.name, text, length))
			return parse_kind(p, &kinds[i], text + length);
	p->policy = policy_parse(text, &p->parameter);
	return p->policy ? 0 : -EINVAL;
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

/* Those that are full already, by their times. */
static void list_full(struct simchoice *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->vol->config.nsegments; i++)
		if (!c->taken[i])
			c->ranks[n++] = (struct policy_rank){
				c->vol->segments[i].lastmod, i
			};
	simchoice_sort(c->ranks, n);
	for (i = 0; i < n; i++)
		simchoice_changed(c, (uint32_t)c->ranks[i].index, true);
}

int simchoice_open(struct simchoice *c, const struct simvol *v,
		   const struct policy_env *env, const uint8_t *taken,
		   const struct simchoice_config *config)
{
	uint32_t n = v->config.nsegments;

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
	list_full(c);
	return 0;
}

void simchoice_close(struct simchoice *c)
{
	free(c->older);
	free(c->younger);
	free(c->ranks);
	*c = (struct simchoice){ 0 };
}
