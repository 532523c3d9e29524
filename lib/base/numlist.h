/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of numbers that are first collected and then searched. */
#ifndef NILFS2_BASE_NUMLIST_H
#define NILFS2_BASE_NUMLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"

/* All zero is empty; free() frees LIST. */
struct numlist {
	uint64_t *list;
	size_t n, room;
};

/* Adds NUMBER.  -ENOMEM. */
static inline int numlist_add(struct numlist *s, struct context *cx,
			      uint64_t number)
{
	return array_push(cx, &s->list, &s->n, &s->room, number);
}

/* Sorts the list and removes duplicates; must be called before any search. */
static inline void numlist_settle(struct numlist *s)
{
	s->n = sort_unique(s->list, s->n);
}

static inline bool numlist_has(const struct numlist *s, uint64_t number)
{
	size_t i = search_lower_bound(s->list, s->n, number);

	return i < s->n && s->list[i] == number;
}

#endif
