// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contested virtual blocks: a sorted list, made once and then asked.
 *
 * Two pointers to one block are an error of one of them.  The map cannot tell
 * of which; the log that the block was written with can, since it says for
 * which file and which place in it that was.
 */
#include "fsck/maps/contested.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

static int compare(const void *a, const void *b)
{
	const struct contested_block *x = a, *y = b;

	return x->vblocknr < y->vblocknr ? -1 : x->vblocknr > y->vblocknr;
}

int contested_add(struct contested *c, struct context *cx, uint64_t vblocknr)
{
	struct contested_block *list = array_grow(cx, c->list, &c->room,
						  c->n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	c->list = list;
	list[c->n++] = (struct contested_block){ .vblocknr = vblocknr };
	return 0;
}

void contested_settle(struct contested *c)
{
	size_t i, kept = 0;

	sort_in_place(c->list, c->n, sizeof(*c->list), compare);
	for (i = 0; i < c->n; i++)
		if (!kept || c->list[kept - 1].vblocknr != c->list[i].vblocknr)
			c->list[kept++] = c->list[i];
	c->n = kept;
}

struct contested_block *contested_find(const struct contested *c,
				       uint64_t vblocknr)
{
	const struct contested_block key = { .vblocknr = vblocknr };

	if (!c->n)
		return NULL;
	return bsearch(&key, c->list, c->n, sizeof(key), compare);
}

void contested_fini(struct contested *c)
{
	free(c->list);
	*c = (struct contested){ .list = NULL };
}
