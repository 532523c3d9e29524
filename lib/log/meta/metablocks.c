// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of blocks in memory.
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

static uint64_t id_of(const struct metablock *b)
{
	return b->node ? b->ptr : b->blkoff;
}

static struct metablock **metablocks_bucket(const struct metablocks *t,
					    bool node, uint64_t id)
{
	uint64_t h = (id * 2 + node) * 0x9e3779b97f4a7c15u;

	return &t->buckets[(size_t)(h >> 32) & (t->nbuckets - 1)];
}

struct metablock *metablocks_find(const struct metablocks *t, bool node,
				  uint64_t id)
{
	struct metablock *b;

	if (!t->n)
		return NULL;
	for (b = *metablocks_bucket(t, node, id); b; b = b->next)
		if (b->node == node && id_of(b) == id)
			return b;
	return NULL;
}

static void hash_in(struct metablocks *t, struct metablock *b)
{
	struct metablock **place = metablocks_bucket(t, b->node, id_of(b));

	b->next = *place;
	*place = b;
}

static void hash_out(struct metablocks *t, struct metablock *b)
{
	struct metablock **place = metablocks_bucket(t, b->node, id_of(b));

	while (*place != b)
		place = &(*place)->next;
	*place = b->next;
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
		metablocks_drop(t, t->clean.oldest);
}

void metablocks_take(struct metablocks *t, struct metablock *b)
{
	hash_out(t, b);
	list_out(t, b);
	t->n--;
}

void metablocks_drop(struct metablocks *t, struct metablock *b)
{
	metablocks_take(t, b);
	free(b);
}

struct metablock *metablocks_add(struct metablocks *t, struct context *cx,
				 bool node, uint64_t blkoff, uint64_t ptr)
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
				hash_in(t, b);
			}
		}
		free(old);
	}
	if (t->clean.n >= METABLOCKS_CLEAN_MAX)
		metablocks_drop(t, t->clean.oldest);
	b = malloc(sizeof(*b) + t->block_size);
	if (!b) {
		fail(cx, -ENOMEM, "block of metadata");
		return NULL;
	}
	b->node = node;
	b->dirty = false;
	b->blkoff = blkoff;
	b->ptr = ptr;
	hash_in(t, b);
	list_in(t, b);
	t->n++;
	return b;
}

void metablocks_set_ptr(struct metablocks *t, struct metablock *b,
			uint64_t ptr)
{
	if (!b->node) {
		b->ptr = ptr;
		return;
	}
	hash_out(t, b);
	b->ptr = ptr;
	hash_in(t, b);
}
