// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arrays that grow within the memory budget.
 *
 * The capacity doubles, so that adding one item takes constant time on average.
 * Near the budget it is limited to the budget.
 */
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 16

void *array_grow(struct context *cx, void *items, size_t *room, size_t want,
		 size_t size)
{
	uint64_t budget = cx->max_memory < SIZE_MAX ? cx->max_memory : SIZE_MAX;
	size_t most = (size_t)budget / size;
	size_t new_room = *room < ROOM_MIN / 2 ? ROOM_MIN : *room;
	void *moved;

	if (want <= *room && items)
		return items;
	while (new_room < want && new_room <= most / 2)
		new_room *= 2;
	if (new_room < want || new_room > most)
		new_room = most;
	moved = want <= most ? realloc(items, new_room * size) : NULL;
	if (!moved) {
		fail(cx, -ENOMEM, "table of %zu entries of %zu bytes", want,
		     size);
		return NULL;
	}
	*room = new_room;
	return moved;
}
