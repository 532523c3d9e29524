// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policies: the order in which segments are cleaned.
 *
 * Each computes a number for a segment; the greatest comes first, and equal
 * ones come by segment number, so that the same volume always has the same
 * order.  Live blocks are exact here, while an online cleaner has to estimate
 * them.  So there is an exact optimum for freeing some segments by moving the
 * fewest blocks: those with the fewest live blocks.  (Of all sets of k victims the
 * k emptiest segments have the smallest sum of live blocks; the gain depends only on
 * k and that sum.)  This holds within a batch.  Each of n batches except one may
 * leave a segment that is not full.  So n batches move at most the fewest blocks
 * with which one batch would free n - 1 additional segments.  Metadata, which each
 * batch writes again, is not counted.  The optimum over several batches is not
 * known.
 */
#include "gc/plan/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* nilfs_cleanerd: the segment written longest ago. */
static uint64_t timestamp(const struct policy_segment *s,
			  const struct policy_env *env)
{
	(void)env;
	return UINT64_MAX - s->lastmod;
}

/* The most dead blocks among the written ones. */
uint64_t policy_dead(const struct policy_segment *s, const struct policy_env *env)
{
	(void)env;
	return s->live < s->written ? s->written - s->live : 0;
}

/*
 * Of the published NILFS2 patches (selection_policy cost-benefit): free space
 * times age over the cost of reading and writing, in milliseconds.
 */
static uint64_t cost_benefit(const struct policy_segment *s,
			     const struct policy_env *env)
{
	uint64_t free = policy_dead(s, env), cost = 2ull * s->live, age;

	if (env->nongc_ctime < s->lastmod)
		return 0;
	age = (env->nongc_ctime - s->lastmod) * 1000;
	/* Ages of more than 500 million years and a full segment overflow. */
	if (free && age > UINT64_MAX / free)
		age = UINT64_MAX / free;
	return age * free / (cost ? cost : 1);
}

/*
 * Rosenblum and Ousterhout, TOCS 10(1), 1992: (1 - u) * age / (1 + u), with u
 * the share of live blocks.
 */
uint64_t policy_cost_benefit_lfs(const struct policy_segment *s,
				 const struct policy_env *env)
{
	uint64_t blocks = s->blocks ? s->blocks : 1, free, age;

	if (env->nongc_ctime < s->lastmod || s->live >= blocks)
		return 0;
	free = blocks - s->live;
	age = (env->nongc_ctime - s->lastmod) * 1000;
	if (age > UINT64_MAX / free)
		age = UINT64_MAX / free;
	return age * free / (blocks + s->live);
}

/* The fewest blocks to be moved. */
static uint64_t optimal(const struct policy_segment *s,
			const struct policy_env *env)
{
	(void)env;
	return UINT32_MAX - (uint64_t)s->live + 1;
}

/*
 * The fewest blocks again, where a metadata block counts more: it may be
 * rewritten anyway before long.  Five times is the best weight in the
 * experiment that tests/bench/seeds repeats, for a file system without a DAT;
 * from three to ten there is little difference.
 */
static uint64_t weighted(const struct policy_segment *s,
			 const struct policy_env *env)
{
	uint64_t metadata = s->metadata < s->live ? s->metadata : s->live;
	uint64_t cost = 100 * (s->live - metadata) +
			env->metadata_weight * metadata;

	return UINT64_MAX - cost;
}

const struct policy policy_list[] = {
	{ "optimal", "fewest live blocks", optimal },
	{ "greedy", "the most dead blocks", policy_dead },
	{ "cost-benefit", "dead blocks times age over live blocks",
	  cost_benefit, .ages = true },
	{ "cost-benefit-lfs", "cost-benefit as published for LFS",
	  policy_cost_benefit_lfs, .ages = true },
	{ "data-first", "most dead blocks, metadata last", policy_dead,
	  .data_first = true, .uses_metadata = true },
	{ "weighted", "fewest live blocks, metadata counts more", weighted,
	  .uses_metadata = true },
	{ "timestamp", "oldest first, as nilfs_cleanerd", timestamp },
};

const size_t policy_count = sizeof(policy_list) / sizeof(policy_list[0]);

const struct policy *policy_find(const char *name)
{
	size_t i;

	for (i = 0; i < policy_count; i++)
		if (!strcmp(policy_list[i].name, name))
			return &policy_list[i];
	return NULL;
}

const char *policy_word(size_t i)
{
	return i < policy_count ? policy_list[i].name : NULL;
}

const struct policy *policy_parse(const char *text, uint32_t *weight)
{
	static const char weighted_by[] = "weighted:";
	const char *number = text + strlen(weighted_by);
	uint64_t n;

	*weight = POLICY_WEIGHT;
	if (strncmp(text, weighted_by, strlen(weighted_by)))
		return policy_find(text);
	/* Only digits, and at most ten. */
	if (strspn(number, "0123456789") != strlen(number) ||
	    strlen(number) > 10)
		return NULL;
	n = strtoull(number, NULL, 10);
	*weight = n <= UINT32_MAX ? (uint32_t)n : 0;
	return *weight ? policy_find("weighted") : NULL;
}

/* Less important first, then the greater number. */
static int compare_policy_ranks(const void *a, const void *b)
{
	const struct policy_rank *x = a, *y = b;

	return sort_order(x->importance, y->importance) ?:
	       sort_order(y->index, x->index);
}

int policy_open(struct policy_order *order, const struct policy *policy,
		const struct policy_env *env,
		const struct policy_segment *segments, size_t n)
{
	size_t i;

	*order = (struct policy_order){
		.policy = policy,
		.env = env,
		.segments = segments,
		.n = n,
	};
	order->taken = calloc(n + 1, 1);
	if (!order->taken)
		return -ENOMEM;
	if (env->max_search)
		return 0;
	order->rank = malloc((n + 1) * sizeof(*order->rank));
	if (!order->rank)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		order->rank[i] = (struct policy_rank){
			policy->importance(&segments[i], env), i
		};
	sort_begin(order->rank, n, sizeof(*order->rank), compare_policy_ranks);
	return 0;
}

/*
 * Whether data_first defers segment I: moving data rewrites the metadata that
 * refers to it, wherever it is, so that a segment with mostly metadata becomes
 * empty without cleaning.
 */
static bool is_deferred(const struct policy_order *o, size_t i, uint64_t clean)
{
	const struct policy_segment *s = &o->segments[i];

	return o->policy->data_first && clean > o->env->scarce &&
	       s->metadata && s->metadata >= s->live / 2;
}

/* The best of all, or of the next few, without those taken. */
static int64_t choose_next(struct policy_order *o, uint64_t clean)
{
	struct policy_rank best, rank;
	uint64_t looked = 0;
	size_t step, i;

	if (o->rank) {
		for (i = o->next; i < o->n; i++) {
			if (i == o->sorted)
				sort_step(o->rank, o->n - o->sorted++,
					  sizeof(*o->rank), compare_policy_ranks);
			best = o->rank[o->n - 1 - i];
			if (o->taken[best.index])
				o->next += i == o->next;
			else if (!is_deferred(o, best.index, clean))
				return (int64_t)best.index;
		}
		return -1;
	}
	for (step = 0; step < o->n && looked < o->env->max_search; step++) {
		i = (o->next + step) % o->n;
		if (o->taken[i] || is_deferred(o, i, clean))
			continue;
		rank = (struct policy_rank){
			o->policy->importance(&o->segments[i], o->env), i
		};
		if (!looked++ || compare_policy_ranks(&rank, &best) > 0)
			best = rank;
	}
	o->next = o->n ? (o->next + step) % o->n : 0;
	return looked ? (int64_t)best.index : -1;
}

int64_t policy_next(struct policy_order *order, uint64_t clean)
{
	int64_t i = choose_next(order, clean);

	/* Deferred segments are taken if there are no others. */
	if (i < 0 && order->policy->data_first)
		i = choose_next(order, 0);
	if (i >= 0)
		order->taken[i] = 1;
	return i;
}

void policy_close(struct policy_order *order)
{
	free(order->rank);
	free(order->taken);
	order->rank = NULL;
	order->taken = NULL;
}
