/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bisection of sorted numbers. */
#ifndef NILFS2_BASE_SEARCH_H
#define NILFS2_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* Index of the first of COUNT ascending NUMBERS that is >= WANTED, or COUNT. */
static inline size_t search_lower_bound(const uint64_t *numbers, size_t count,
					uint64_t wanted)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (numbers[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
