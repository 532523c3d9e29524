// SPDX-License-Identifier: GPL-2.0-or-later
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
#include "gc/clean/scarce.h"

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

bool scarce_is(const struct collector *k)
{
	uint64_t clean = k->facts.clean;

	return clean < FEW_SEGMENTS ||
	       clean * k->vol->geo.blocks_per_segment < FEW_BLOCKS;
}

/* Adds S where that may fit: 1, 0, or a failure. */
static int add_victim(struct scarce *s, struct context *cx,
		      const struct policy_segment *segment)
{
	struct load *l = &s->k->load;
	struct load_size before = load_size(l);
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

	while (ret >= 0 && s->k->load.nvictims < most) {
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
	*chosen = s->k->load.nvictims;
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

int scarce_run(struct collector *k, struct context *cx,
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
	for (i = 0; i < f->n && ret >= 0 && k->load.nvictims < most; i++)
		if (!f->segments[i].live)
			ret = collector_add(k, cx, &f->segments[i], UINT64_MAX);
	return ret < 0 ? ret : (int64_t)k->load.nvictims;
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

int scarce_reuse(struct collector *k, struct context *cx)
{
	int ret;

	if (k->dev->zones)
		return 0;
	k->reuse = true;
	ret = reuse(k, cx);
	k->reuse = false;
	return ret;
}
