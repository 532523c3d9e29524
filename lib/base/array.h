/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow within the memory budget. */
#ifndef NILFS2_BASE_ARRAY_H
#define NILFS2_BASE_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/context.h"

/*
 * Returns ITEMS, moved if necessary, with room for at least WANT items of SIZE
 * bytes, and sets *ROOM to the capacity; new room is not cleared.  Initially ITEMS
 * is NULL and *ROOM 0; free() frees it.  NULL with the failure text set, which the
 * caller returns as -ENOMEM, if the array would overflow or exceed the memory
 * budget, or there is no memory; ITEMS stays valid then.
 */
void *array_grow(struct context *cx, void *items, size_t *room, size_t want,
		 size_t size);

/* The same for *ITEMS, a pointer to items of any type: 0 or -ENOMEM. */
#define array_reserve(cx, items, room, want)                               \
	({                                                                 \
		void *grown_ = array_grow(cx, *(items), room, want,        \
					  sizeof(**(items)));              \
		if (grown_)                                                \
			*(items) = grown_;                                 \
		grown_ ? 0 : -ENOMEM;                                      \
	})

/* Appends an item to the *N ITEMS: 0 or -ENOMEM. */
#define array_push(cx, items, n, room, ...)                                    \
	({                                                                     \
		int err_ = array_reserve(cx, items, room, *(n) + 1);           \
		if (!err_)                                                     \
			(*(items))[(*(n))++] = (__VA_ARGS__);                  \
		err_;                                                          \
	})

/*
 * Whether *ITEMS has room for one more than N.  For callers to which a lack of
 * memory is not a failure: items without room are counted, or found again.
 */
#define array_has_room(items, room, n)                                     \
	({                                                                 \
		size_t more_ = *(room) ? 2 * *(room) : 16;                 \
		void *grown_ = (n) < *(room) ? NULL :                      \
			realloc(*(items), more_ * sizeof(**(items)));      \
		if (grown_) {                                              \
			*(items) = grown_;                                 \
			*(room) = more_;                                   \
		}                                                          \
		(n) < *(room);                                             \
	})

#endif
