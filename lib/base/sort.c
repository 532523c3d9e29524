// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A heap sort.
 *
 * qsort() of the C library may allocate as much memory as the array, outside of the
 * memory budget.  Sorted input takes linear time; much input is sorted, since files
 * are mostly written in order.
 */
#include "base/sort.h"

#include <string.h>

struct heap {
	char *items;
	size_t count, size;
	int (*compare)(const void *a, const void *b);
};

static char *item(const struct heap *h, size_t i)
{
	return h->items + i * h->size;
}

/* Swaps by words; copies of a constant length need no calls. */
static void swap(const struct heap *h, char *a, char *b)
{
	size_t left = h->size;
	uint64_t x, y;

	for (; left >= sizeof(x); left -= sizeof(x)) {
		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		memcpy(a, &y, sizeof(y));
		memcpy(b, &x, sizeof(x));
		a += sizeof(x);
		b += sizeof(x);
	}
	for (; left; left--) {
		char byte = *a;

		*a++ = *b;
		*b++ = byte;
	}
}

/* Moves item I down until no item below it is greater. */
static void sink(const struct heap *h, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->count)
			return;
		if (child + 1 < h->count &&
		    h->compare(item(h, child), item(h, child + 1)) < 0)
			child++;
		if (h->compare(item(h, i), item(h, child)) >= 0)
			return;
		swap(h, item(h, i), item(h, child));
		i = child;
	}
}

void sort_begin(void *items, size_t count, size_t size,
		int (*compare)(const void *a, const void *b))
{
	struct heap h = { items, count, size, compare };
	size_t i;

	for (i = count / 2; i-- > 0;)
		sink(&h, i);
}

void sort_step(void *items, size_t count, size_t size,
	       int (*compare)(const void *a, const void *b))
{
	struct heap h = { items, count - 1, size, compare };

	swap(&h, item(&h, 0), item(&h, h.count));
	sink(&h, 0);
}

void sort_in_place(void *items, size_t count, size_t size,
		   int (*compare)(const void *a, const void *b))
{
	const char *at = items;
	size_t i = 1;

	while (i < count && compare(at, at + size) <= 0) {
		at += size;
		i++;
	}
	if (i >= count)
		return;
	sort_begin(items, count, size, compare);
	for (; count > 1; count--)
		sort_step(items, count, size, compare);
}

int sort_compare_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void sort_numbers(uint64_t *numbers, size_t n)
{
	sort_in_place(numbers, n, sizeof(*numbers), sort_compare_number);
}

size_t sort_unique(uint64_t *numbers, size_t n)
{
	size_t i, kept = 0;

	sort_numbers(numbers, n);
	for (i = 0; i < n; i++)
		if (!kept || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	return kept;
}
