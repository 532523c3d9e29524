// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks of a metadata file in memory.
 *
 * Data blocks are found by their offset, nodes by the pointer in their parent,
 * which is unique and does not depend on the keys in them.  One hash table
 * holds both; lists in the order of last use show which dirty blocks may be
 * written first and which clean ones may be dropped.  Memory is proportional to
 * the dirty blocks, plus a fixed number of clean ones.
 */
#include "log/meta/metablocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_MIN 64

void metablocks_fini(struct metablocks *t)
{
	struct metablocks_list *lists[] = { &t->data, &t->nodes, &t->clean };
	struct metablock *b, *newer;
	unsigned int i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (b = lists[i]->oldest; b; b = newer) {
			newer = b->newer;
			free(b);
		}
	}
	free(t->buckets);
}

/* Where the chain leads to a block, or where it ends without it. */
static struct metablock **hash_slot(const struct metablocks *t, bool node,
				    uint64_t id)
{
	uint64_t h = (id * 2 + node) * 0x9e3779b97f4a7c15u;
	struct metablock **p = &t->buckets[(size_t)(h >> 32) & (t->nbuckets - 1)];

	while (*p && ((*p)->node != node || (*p)->id != id))
		p = &(*p)->next;
	return p;
}

struct metablock *metablocks_find(const struct metablocks *t, bool node,
				  uint64_t id)
{
	return t->n ? *hash_slot(t, node, id) : NULL;
}

static struct metablocks_list *list_of(struct metablocks *t,
				       const struct metablock *b)
{
	if (!b->dirty)
		return &t->clean;
	return b->node ? &t->nodes : &t->data;
}

static void list_in(struct metablocks *t, struct metablock *b)
{
	struct metablocks_list *list = list_of(t, b);

	b->newer = NULL;
	b->older = list->newest;
	if (b->older)
		b->older->newer = b;
	else
		list->oldest = b;
	list->newest = b;
	list->n++;
}

static void list_out(struct metablocks *t, struct metablock *b)
{
	struct metablocks_list *list = list_of(t, b);

	if (b->older)
		b->older->newer = b->newer;
	else
		list->oldest = b->newer;
	if (b->newer)
		b->newer->older = b->older;
	else
		list->newest = b->older;
	list->n--;
}

void metablocks_use(struct metablocks *t, struct metablock *b, bool dirty)
{
	if (b->dirty == dirty && !b->newer)
		return;
	list_out(t, b);
	b->dirty = dirty;
	list_in(t, b);
	if (t->clean.n > METABLOCKS_CLEAN_MAX)
		free(metablocks_take(t, t->clean.oldest));
}

struct metablock *metablocks_take(struct metablocks *t, struct metablock *b)
{
	*hash_slot(t, b->node, b->id) = b->next;
	list_out(t, b);
	t->n--;
	return b;
}

struct metablock *metablocks_add(struct metablocks *t, struct context *cx,
				 bool node, uint64_t id, uint64_t ptr)
{
	struct metablock *b, *next, **old = t->buckets;
	size_t n = t->nbuckets, i;

	if (t->n >= n) {
		t->nbuckets = n ? 2 * n : BUCKETS_MIN;
		t->buckets = calloc(t->nbuckets, sizeof(*t->buckets));
		if (!t->buckets) {
			fail(cx, -ENOMEM, "table of %zu blocks", t->nbuckets);
			t->nbuckets = n;
			t->buckets = old;
			return NULL;
		}
		for (i = 0; i < n; i++) {
			for (b = old[i]; b; b = next) {
				next = b->next;
				b->next = NULL;
				*hash_slot(t, b->node, b->id) = b;
			}
		}
		free(old);
	}
	if (t->clean.n >= METABLOCKS_CLEAN_MAX)
		free(metablocks_take(t, t->clean.oldest));
	b = malloc(sizeof(*b) + t->block_size);
	if (!b) {
		fail(cx, -ENOMEM, "block of metadata");
		return NULL;
	}
	b->next = NULL;
	b->node = node;
	b->dirty = false;
	b->id = id;
	b->ptr = ptr;
	*hash_slot(t, node, id) = b;
	list_in(t, b);
	t->n++;
	return b;
}

void metablocks_set_ptr(struct metablocks *t, struct metablock *b,
			uint64_t ptr)
{
	b->ptr = ptr;
	if (!b->node)
		return;
	*hash_slot(t, true, b->id) = b->next;
	b->next = NULL;
	b->id = ptr;
	*hash_slot(t, true, ptr) = b;
}
