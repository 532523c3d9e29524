/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bisection of sorted arrays. */
#ifndef NILFS2_BASE_SEARCH_H
#define NILFS2_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Index of the first of COUNT ITEMS of SIZE bytes that is >= WANTED, or COUNT.  Each
 * item begins with a uint64_t, by which they are sorted.
 */
static inline size_t search_number(const void *items, size_t count, size_t size,
				   uint64_t wanted)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *item = (const char *)items + middle * size;

		if (*(const uint64_t *)item < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Index of the first of COUNT ascending NUMBERS that is >= WANTED, or COUNT. */
static inline size_t search_lower_bound(const uint64_t *numbers, size_t count,
					uint64_t wanted)
{
	return search_number(numbers, count, sizeof(*numbers), wanted);
}

/* The first of COUNT ascending NUMBERS in [FROM, END), or 0. */
static inline uint64_t search_within(const uint64_t *numbers, size_t count,
				     uint64_t from, uint64_t end)
{
	size_t i = search_lower_bound(numbers, count, from);

	return i < count && numbers[i] < end ? numbers[i] : 0;
}

/*
 * Index of the first of COUNT ITEMS of SIZE bytes that is not below KEY, or
 * COUNT; IS_BELOW holds for those before it and no others.
 */
static inline size_t search_first(const void *items, size_t count, size_t size,
				  bool (*is_below)(const void *item,
						   const void *key),
				  const void *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_below((const char *)items + middle * size, key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
