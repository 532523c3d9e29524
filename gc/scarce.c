// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning with a segment or two, or with none.
 *
 * What a batch writes besides the blocks that it moves can be told before only
 * by a bound, and where a few blocks are all there is the bound takes more than
 * that.  So batches are tried on an overlay, which says to the block what they
 * take: first with as many victims as could fit at best, then with fewer, in
 * the end with single ones.  One that leaves more room than there was is made.
 * Room grows each time, so this comes to an end, or to where the estimates do.
 */
#include "gc/scarce.h"

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
static int add(struct scarce *s, struct context *cx,
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
static int choose(struct scarce *s, struct context *cx, size_t skip,
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
			ret = add(s, cx, &f->segments[i]);
	}
	policy_close(&order);
	return ret < 0 ? ret : 0;
}

/* *CHOSEN of MOST victims: 1 where they leave more room, 0, or a failure. */
static int try(struct scarce *s, struct context *cx, size_t skip, size_t most,
	       size_t *chosen)
{
	uint64_t after = 0;
	int ret;

	load_fini(&s->k->load);
	ret = choose(s, cx, skip, most);
	*chosen = s->k->load.nvictims;
	if (!ret && *chosen)
		ret = collector_try(s->k, cx, &after);
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

static int try_others(struct scarce *s, struct context *cx)
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
		ret = try_others(&s, cx);
	if (ret <= 0)
		return ret;
	ret = collector_move(k, cx, &k->o->batch);
	return ret ? ret : 1;
}
