/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow within the memory budget. */
#ifndef NILFS2_BASE_ARRAY_H
#define NILFS2_BASE_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/context.h"

/*
 * Returns ITEMS, moved if need be, with room for at least WANT items of SIZE
 * bytes, and sets *ROOM to the room there is; new room is not cleared.  ITEMS
 * is NULL with *ROOM 0 at first; free() frees it.  NULL with the failure text
 * set, which the caller returns as -ENOMEM, if the array would overflow, be
 * larger than the memory budget or find no memory; ITEMS stays valid then.
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

/* Adds the item that follows to the *N ITEMS: 0 or -ENOMEM. */
#define array_push(cx, items, n, room, ...)                                    \
	({                                                                     \
		int err_ = array_reserve(cx, items, room, *(n) + 1);           \
		if (!err_)                                                     \
			(*(items))[(*(n))++] = (__VA_ARGS__);                  \
		err_;                                                          \
	})

/*
 * Whether there is room in *ITEMS for one more than N, where no memory is no
 * failure: what does not fit is counted, or found again.
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
