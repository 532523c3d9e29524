// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A hash table with open addressing, at most three quarters full.
 */
#include "base/pairtable.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"

#define ROOM_MIN 256u

/* The slot of the pair, or the free slot for it. */
static struct pairtable_entry *pairtable_slot(struct pairtable_entry *slots,
					      size_t room, uint64_t dev, uint64_t ino)
{
	/* Mix both numbers: either may vary, in any of its bits. */
	uint64_t hash = (ino ^ dev * 0xff51afd7ed558ccdULL) *
			0x9e3779b97f4a7c15ULL;
	size_t i = (size_t)(hash >> 20) & (room - 1);

	while (slots[i].value && (slots[i].ino != ino || slots[i].dev != dev))
		i = (i + 1) & (room - 1);
	return &slots[i];
}

struct pairtable_entry *pairtable_find(const struct pairtable *t, uint64_t dev,
				       uint64_t ino)
{
	struct pairtable_entry *slot;

	if (!t->room)
		return NULL;
	slot = pairtable_slot(t->slots, t->room, dev, ino);
	return slot->value ? slot : NULL;
}

int pairtable_add(struct pairtable *t, struct context *cx, uint64_t dev,
		  uint64_t ino, uint64_t value)
{
	size_t room = t->room ? 2 * t->room : ROOM_MIN, i;
	struct pairtable_entry *slots = NULL, *old;

	if (t->used >= t->room / 4 * 3) {
		if (room <= cx->max_memory / sizeof(*slots))
			slots = calloc(room, sizeof(*slots));
		if (!slots)
			return fail(cx, -ENOMEM, "table of %zu inodes",
				    t->used);
		for (i = 0; i < t->room; i++) {
			old = &t->slots[i];
			if (old->value)
				*pairtable_slot(slots, room, old->dev, old->ino) = *old;
		}
		free(t->slots);
		t->slots = slots;
		t->room = room;
	}
	*pairtable_slot(t->slots, t->room, dev, ino) =
		(struct pairtable_entry){ dev, ino, value };
	t->used++;
	return 0;
}

static int compare_entry(const void *a, const void *b)
{
	const struct pairtable_entry *x = a, *y = b;

	return sort_order(x->dev, y->dev) ?: sort_order(x->ino, y->ino);
}

void pairtable_sort(struct pairtable *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->room; i++)
		if (t->slots[i].value)
			t->slots[n++] = t->slots[i];
	sort_in_place(t->slots, t->used, sizeof(*t->slots), compare_entry);
}

void pairtable_fini(struct pairtable *t)
{
	free(t->slots);
	*t = (struct pairtable){ .slots = NULL };
}
