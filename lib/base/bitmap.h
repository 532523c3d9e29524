/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of the numbers [0, bits), one bit each.
 *
 * Callers of set and clear must not pass numbers outside the set.  test returns
 * false for them, so that numbers from a disk can be passed unchecked.
 */
#ifndef NILFS2_BASE_BITMAP_H
#define NILFS2_BASE_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

struct bitmap {
	uint64_t *words;
	uint64_t bits;
};

/*
 * Initializes an empty set.  -ENOMEM if it exceeds the memory budget or the memory;
 * bitmap_fini() may be called after that, too.
 */
int bitmap_init(struct bitmap *map, struct context *cx, uint64_t bits);
void bitmap_fini(struct bitmap *map);

/* Initializes a set with the numbers of FROM; fails in the same way. */
int bitmap_copy(struct bitmap *map, struct context *cx,
		const struct bitmap *from);

/* The number of members below END, of all for UINT64_MAX. */
uint64_t bitmap_count(const struct bitmap *map, uint64_t end);

/* The first number from FROM on that is (or is not) a member; bits if there is none. */
uint64_t bitmap_next_set(const struct bitmap *map, uint64_t from);
uint64_t bitmap_next_clear(const struct bitmap *map, uint64_t from);

static inline bool bitmap_test(const struct bitmap *map, uint64_t bit)
{
	return bit < map->bits && map->words[bit / 64] >> (bit % 64) & 1;
}

static inline void bitmap_set(struct bitmap *map, uint64_t bit)
{
	map->words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* The same while other threads set or test bits. */
static inline void bitmap_set_shared(struct bitmap *map, uint64_t bit)
{
	__atomic_fetch_or(&map->words[bit / 64], UINT64_C(1) << (bit % 64),
			  __ATOMIC_RELAXED);
}

static inline void bitmap_clear(struct bitmap *map, uint64_t bit)
{
	map->words[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

#endif
