// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The names of one directory, as tags.
 *
 * Most directories are small: the table begins at a kilobyte and doubles, the
 * slot of a tag follows from the tag.  Two names can have one tag; who cares
 * looks at the names (dupnames.c).  Names can be made such that all tags meet
 * in one corner: a table where a search gets long counts as full.
 */
#include "check/names/nameset.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS_MIN 256u
#define STEPS_MAX 512u

/* Room for N slots in *SLOTS, cleared. */
static int make_room(struct context *cx, uint32_t **slots, size_t *room,
		     size_t n)
{
	if (*room < n) {
		free(*slots);
		*room = 0;
		*slots = malloc(n * sizeof(**slots));
		if (!*slots)
			return fail(cx, -ENOMEM, "table of names");
		*room = n;
	}
	memset(*slots, 0, n * sizeof(**slots));
	return 0;
}

int nameset_clear(struct nameset *set, struct context *cx)
{
	set->used = 0;
	set->nslots = SLOTS_MIN;
	return make_room(cx, &set->slots, &set->room, SLOTS_MIN);
}

/* The slot of TAG or the free one where it belongs; NULL after a long search. */
static uint32_t *find_slot(uint32_t *slots, size_t nslots, uint32_t tag)
{
	size_t i = tag & (nslots - 1);
	unsigned int steps = STEPS_MAX;

	while (slots[i] && slots[i] != tag) {
		if (!--steps)
			return NULL;
		i = (i + 1) & (nslots - 1);
	}
	return &slots[i];
}

int nameset_add(struct nameset *set, struct context *cx, uint32_t tag)
{
	uint32_t *slot, *slots;
	size_t i, room, nslots = 2 * set->nslots;
	int err;

	if (set->used >= set->nslots / 2) {
		if (nslots > cx->max_memory / 4 / sizeof(*slot))
			return -ENOBUFS;
		err = make_room(cx, &set->spare, &set->spare_room, nslots);
		if (err)
			return err;
		for (i = 0; i < set->nslots; i++) {
			if (!set->slots[i])
				continue;
			slot = find_slot(set->spare, nslots, set->slots[i]);
			if (!slot)
				return -ENOBUFS;
			*slot = set->slots[i];
		}
		slots = set->slots;
		room = set->room;
		set->slots = set->spare;
		set->room = set->spare_room;
		set->nslots = nslots;
		set->spare = slots;
		set->spare_room = room;
	}
	slot = find_slot(set->slots, set->nslots, tag);
	if (!slot)
		return -ENOBUFS;
	if (*slot)
		return 0;
	*slot = tag;
	set->used++;
	return 1;
}

bool nameset_has(const struct nameset *set, uint32_t tag)
{
	const uint32_t *slot = find_slot(set->slots, set->nslots, tag);

	return slot && *slot;
}

void nameset_fini(struct nameset *set)
{
	free(set->slots);
	free(set->spare);
	*set = (struct nameset){ .slots = NULL };
}
