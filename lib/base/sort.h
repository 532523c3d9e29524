/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorting without additional memory. */
#ifndef NILFS2_BASE_SORT_H
#define NILFS2_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts COUNT items of SIZE bytes like qsort(), in place, in O(n log n) for any
 * input and O(n) for sorted input.  Not stable.
 */
void sort_in_place(void *items, size_t count, size_t size,
		   int (*compare)(const void *a, const void *b));

/*
 * Partial sort from the greatest item on.  After sort_begin(), each sort_step()
 * moves the greatest of the first COUNT items to the end of them, and prepares the
 * others for a step with COUNT - 1.
 */
void sort_begin(void *items, size_t count, size_t size,
		int (*compare)(const void *a, const void *b));
void sort_step(void *items, size_t count, size_t size,
	       int (*compare)(const void *a, const void *b));

/* The order of two numbers, for functions that compare: -1, 0, 1. */
#define sort_order(a, b) (((a) > (b)) - ((a) < (b)))

/* Compares items by the uint64_t with which they begin. */
int sort_compare_number(const void *a, const void *b);

/* Sorts N numbers, ascending, and removes duplicates; returns how many are left. */
size_t sort_unique(uint64_t *numbers, size_t n);

#endif
