// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tournament.
 *
 * Leaves past the last segment, and those that are taken, are worse than all
 * others.  Among equals the left one wins, which has the lower number.
 */
#include "gc/sim/simtree.h"

#include <errno.h>
#include <stdlib.h>

#define NOBODY UINT32_MAX

static uint64_t importance(const struct simtree *t, uint32_t index)
{
	const struct policy_order *o = t->order;

	return o->policy->importance(&o->segments[index], o->env);
}

static uint32_t leaf(const struct simtree *t, uint32_t index)
{
	return index < t->order->n && !t->order->taken[index] ? index : NOBODY;
}

static uint32_t better(const struct simtree *t, uint32_t a, uint32_t b)
{
	if (a == NOBODY || b == NOBODY)
		return a == NOBODY ? b : a;
	return importance(t, b) > importance(t, a) ? b : a;
}

/* The winner of child I, which is a node or, past the last, a leaf. */
static uint32_t child(const struct simtree *t, uint32_t i)
{
	return i < t->leaves ? t->winners[i] : leaf(t, i - t->leaves);
}

int simtree_open(struct simtree *t, const struct policy_order *order)
{
	uint32_t i;

	*t = (struct simtree){ .order = order, .leaves = 2 };
	while (t->leaves < order->n)
		t->leaves *= 2;
	t->winners = malloc(t->leaves * sizeof(*t->winners));
	if (!t->winners)
		return -ENOMEM;
	for (i = t->leaves - 1; i > 0; i--)
		t->winners[i] = better(t, child(t, 2 * i), child(t, 2 * i + 1));
	return 0;
}

void simtree_close(struct simtree *t)
{
	free(t->winners);
	t->winners = NULL;
}

void simtree_update(struct simtree *t, uint32_t index)
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

int64_t simtree_best(const struct simtree *t)
{
	return t->winners[1] == NOBODY ? -1 : (int64_t)t->winners[1];
}
