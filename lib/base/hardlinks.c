// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files with several names.
 *
 * Only files with more than one link come here, and few trees have many.  A
 * hash table with open addressing, at most three quarters full.
 */
#include "base/hardlinks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"

#define ROOM_MIN 256u

/* Where the file is, or where it would be. */
static struct hardlink *slot_of(struct hardlink *slots, size_t room,
				uint64_t dev, uint64_t ino)
{
	uint64_t hash = (ino ^ dev << 40) * 0x9e3779b97f4a7c15ULL;
	size_t i = (size_t)(hash >> 20) & (room - 1);

	while (slots[i].value && (slots[i].ino != ino || slots[i].dev != dev))
		i = (i + 1) & (room - 1);
	return &slots[i];
}

struct hardlink *hardlinks_find(const struct hardlinks *links, uint64_t dev,
				uint64_t ino)
{
	struct hardlink *slot;

	if (!links->room)
		return NULL;
	slot = slot_of(links->slots, links->room, dev, ino);
	return slot->value ? slot : NULL;
}

static int grow(struct hardlinks *links, struct context *cx)
{
	size_t room = links->room ? 2 * links->room : ROOM_MIN, i;
	struct hardlink *slots = NULL, *old;

	if (room <= cx->max_memory / sizeof(*slots))
		slots = calloc(room, sizeof(*slots));
	if (!slots)
		return fail(cx, -ENOMEM, "table of %zu hard links",
			    links->used);
	for (i = 0; i < links->room; i++) {
		old = &links->slots[i];
		if (old->value)
			*slot_of(slots, room, old->dev, old->ino) = *old;
	}
	free(links->slots);
	links->slots = slots;
	links->room = room;
	return 0;
}

int hardlinks_add(struct hardlinks *links, struct context *cx, uint64_t dev,
		  uint64_t ino, uint64_t value)
{
	int err;

	if (links->used >= links->room / 4 * 3) {
		err = grow(links, cx);
		if (err)
			return err;
	}
	*slot_of(links->slots, links->room, dev, ino) =
		(struct hardlink){ dev, ino, value };
	links->used++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct hardlink *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

void hardlinks_sort(struct hardlinks *links)
{
	size_t i, n = 0;

	for (i = 0; i < links->room; i++)
		if (links->slots[i].value)
			links->slots[n++] = links->slots[i];
	sort_in_place(links->slots, links->used, sizeof(*links->slots),
		      compare);
}

void hardlinks_fini(struct hardlinks *links)
{
	free(links->slots);
	*links = (struct hardlinks){ .slots = NULL };
}
