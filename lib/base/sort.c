// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An introsort: quicksort, and heap sort where the pivots are bad (Musser,
 * "Introspective Sorting and Selection Algorithms", 1997).
 *
 * qsort() of the C library may allocate as much memory as the array, outside of the
 * memory budget.  Sorted input takes linear time; much input is sorted, since files
 * are mostly written in order.
 */
#include "base/sort.h"

#include <string.h>

/* Fewer items are sorted by insertion. */
#define FEW 8

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

/*
 * Makes the median of the items at the quarters the pivot, with items that are not
 * greater before it, and items that are not less after it.  Its index.
 */
static size_t partition(const struct heap *h)
{
	size_t i = 0, j = h->count, last = h->count - 1;
	char *pivot = item(h, 0), *a = item(h, j / 4), *b = item(h, j / 2),
	     *c = item(h, j - j / 4 - 1);

	if (h->compare(a, c) > 0)
		swap(h, a, c);
	if (h->compare(a, b) > 0)
		b = a;
	else if (h->compare(b, c) > 0)
		b = c;
	swap(h, pivot, b);
	for (;;) {
		do
			i++;
		while (i < last && h->compare(item(h, i), pivot) < 0);
		do
			j--;
		while (j && h->compare(item(h, j), pivot) > 0);
		if (i >= j)
			break;
		swap(h, item(h, i), item(h, j));
	}
	swap(h, pivot, item(h, j));
	return j;
}

/* Recurses for the smaller part only, so the depth is at most log2 of the count. */
static void intro_sort(struct heap h, unsigned int levels)
{
	size_t i, j;

	while (h.count > FEW && levels--) {
		struct heap part = h;

		j = partition(&h);
		part.count = j;
		h.items = item(&h, j + 1);
		h.count -= j + 1;
		if (part.count > h.count) {
			struct heap larger = part;

			part = h;
			h = larger;
		}
		intro_sort(part, levels);
	}
	if (h.count > FEW) {
		sort_begin(h.items, h.count, h.size, h.compare);
		for (; h.count > 1; h.count--)
			sort_step(h.items, h.count, h.size, h.compare);
	}
	for (i = 1; i < h.count; i++)
		for (j = i; j && h.compare(item(&h, j - 1), item(&h, j)) > 0;
		     j--)
			swap(&h, item(&h, j - 1), item(&h, j));
}

void sort_in_place(void *items, size_t count, size_t size,
		   int (*compare)(const void *a, const void *b))
{
	const char *at = items;
	size_t i = 1, n;
	unsigned int levels = 0;

	while (i < count && compare(at, at + size) <= 0) {
		at += size;
		i++;
	}
	for (n = count; n; n /= 2)
		levels += 2;
	if (i < count)
		intro_sort((struct heap){ items, count, size, compare }, levels);
}

int sort_compare_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return sort_order(*x, *y);
}

size_t sort_unique(uint64_t *numbers, size_t n)
{
	size_t i, kept = 0;

	sort_in_place(numbers, n, sizeof(*numbers), sort_compare_number);
	for (i = 0; i < n; i++)
		if (!kept || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	return kept;
}
