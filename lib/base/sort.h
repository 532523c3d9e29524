/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorting without additional memory. */
#ifndef NILFS2_BASE_SORT_H
#define NILFS2_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts COUNT items of SIZE bytes as qsort() would, in place, in a time that
 * no input makes quadratic, and linear where they are in order.  Equal items keep
 * no order.
 */
void sort_in_place(void *items, size_t count, size_t size,
		   int (*compare)(const void *a, const void *b));

/*
 * Sorts from the greatest item on, as far as it is wanted: sort_begin(),
 * then each sort_step() puts the greatest of the first COUNT items after them,
 * and has the others ready for a step with COUNT - 1.
 */
void sort_begin(void *items, size_t count, size_t size,
		int (*compare)(const void *a, const void *b));
void sort_step(void *items, size_t count, size_t size,
	       int (*compare)(const void *a, const void *b));

/* Compares items that begin with a uint64_t by that. */
int sort_compare_number(const void *a, const void *b);

/* Sorts N numbers, ascending. */
void sort_numbers(uint64_t *numbers, size_t n);

/* The same, each once: how many are left. */
size_t sort_unique(uint64_t *numbers, size_t n);

#endif
