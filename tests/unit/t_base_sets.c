// SPDX-License-Identifier: GPL-2.0-or-later
/* Bitmaps, growing arrays, lists of numbers, sorting. */
#include "base/array.h"
#include "base/bitmap.h"
#include "base/numlist.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>

#include "tap.h"

/* Against one bool per number, the definition of a set. */
static void test_bitmap_random(uint64_t bits)
{
	bool model[300] = {false};
	unsigned int i, wrong = 0;
	struct bitmap map, copy;
	struct context cx;
	uint64_t k;
	uint32_t x = 3;

	context_init(&cx);
	is_int(bitmap_init(&map, &cx, bits), 0, "a bitmap");
	is_int(bitmap_next_clear(&map, 0), 0, "starts empty");
	is_int(bitmap_next_set(&map, 0), bits, "with no bit to find");
	for (i = 0; i < 5000; i++) {
		uint64_t bit, from, count = 0;

		x = x * 1103515245 + 12345;
		bit = (x >> 8) % bits;
		/* Long runs of each kind, so that whole words are crossed. */
		model[bit] = i / 1000 % 2 ? x >> 30 == 0 : x >> 30 != 0;
		if (model[bit])
			bitmap_set(&map, bit);
		else
			bitmap_clear(&map, bit);
		from = (x >> 4) % bits;
		for (k = from; k < bits && !model[k]; k++)
			;
		wrong += bitmap_next_set(&map, from) != k;
		for (k = from; k < bits && model[k]; k++)
			;
		wrong += bitmap_next_clear(&map, from) != k;
		for (k = 0; k < bits; k++)
			count += model[k];
		wrong += bitmap_count(&map, UINT64_MAX) != count;
		for (k = from; k < bits; k++)
			count -= model[k];
		wrong += bitmap_count(&map, from) != count;
		wrong += bitmap_test(&map, from) != model[from];
	}
	is_int(wrong, 0, "is the set it should be");
	is_int(bitmap_copy(&copy, &cx, &map), 0, "copied");
	for (k = 0; k < bits; k++)
		wrong += bitmap_test(&copy, k) != model[k];
	is_int(wrong, 0, "the copy has the same numbers");
	bitmap_set(&copy, 0);
	bitmap_clear(&map, 0);
	ok(bitmap_test(&copy, 0), "and is another set");
	bitmap_fini(&copy);
	for (i = 0; i < bits; i++)
		bitmap_set(&map, i);
	is_int(bitmap_next_clear(&map, 0), bits, "full: none clear");
	is_int(bitmap_count(&map, UINT64_MAX), bits, "and all set");
	is_int(bitmap_count(&map, bits + 100), bits, "none past the end");
	bitmap_fini(&map);
}

static void test_bitmap_limits(void)
{
	struct bitmap map;
	struct context cx;

	context_init(&cx);
	is_int(bitmap_init(&map, &cx, 0), 0, "the empty bitmap");
	is_int(bitmap_next_set(&map, 0), 0, "has none set");
	is_int(bitmap_next_clear(&map, 5), 0, "none clear");
	ok(!bitmap_test(&map, 0) && !bitmap_test(&map, UINT64_MAX),
	   "and contains nothing");
	bitmap_fini(&map);

	cx.max_memory = 1024;
	is_int(bitmap_init(&map, &cx, 8192), 0, "as large as the budget");
	bitmap_fini(&map);
	is_int(bitmap_init(&map, &cx, 8193), -ENOMEM, "larger than the budget");
	bitmap_fini(&map);
	is_int(bitmap_init(&map, &cx, UINT64_MAX), -ENOMEM, "the largest");
	ok(cx.failure[0] != '\0', "with a text");
}

static void test_array(void)
{
	size_t room = 0, i, moves = 0;
	uint32_t *items = NULL, *grown;
	struct context cx;

	context_init(&cx);
	cx.max_memory = 4000;
	for (i = 0; i < 1000; i++) {
		size_t before = room;

		grown = array_grow(&cx, items, &room, i + 1, sizeof(*items));
		if (!grown)
			break;
		items = grown;
		items[i] = (uint32_t)i;
		moves += room != before;
	}
	is_int(i, 1000, "grows to the whole budget");
	is_int(room, 1000, "and not past it");
	is_int(moves, 7, "by doubling");
	ok(items && items[0] == 0 && items[999] == 999, "keeping the items");
	ok(!array_grow(&cx, items, &room, 1001, sizeof(*items)),
	   "one more is too many");
	is_int(room, 1000, "which leaves the array alone");
	ok(!array_grow(&cx, items, &room, SIZE_MAX / 2, sizeof(*items)),
	   "a size that overflows");
	free(items);
}

/* Larger than what is swapped at a time; all of it depends on the key. */
struct sortable {
	uint32_t key, rest[10];
};

static int by_key(const void *a, const void *b)
{
	uint32_t x = ((const struct sortable *)a)->key;
	uint32_t y = ((const struct sortable *)b)->key;

	return x < y ? -1 : x > y;
}

/* COUNT items with keys below KEYS, against the C library. */
static void test_sort(size_t count, uint32_t keys, const char *name)
{
	struct sortable ours[1000], theirs[1000];
	uint32_t x = 5;
	size_t i, k;

	for (i = 0; i < count; i++) {
		x = x * 1103515245 + 12345;
		ours[i].key = (x >> 8) % keys;
		for (k = 0; k < 10; k++)
			ours[i].rest[k] = ours[i].key * (uint32_t)(k + 7);
		theirs[i] = ours[i];
	}
	sort_in_place(ours, count, sizeof(*ours), by_key);
	qsort(theirs, count, sizeof(*theirs), by_key);
	ok(!memcmp(ours, theirs, count * sizeof(*ours)), "%s", name);
}

struct counted {
	uint64_t key;
	unsigned int *compared;
};

static int count_compared(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	++*x->compared;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* How often any of COUNT items is compared where all but the last N are in
   order. */
static unsigned int comparisons(size_t count, size_t n)
{
	struct counted items[1000];
	unsigned int compared = 0;
	size_t i;

	for (i = 0; i < count; i++)
		items[i] = (struct counted){ i < count - n ? i / 2 : 0,
					     &compared };
	sort_in_place(items, count, sizeof(*items), count_compared);
	return compared;
}

static void test_sorted(void)
{
	ok(comparisons(1000, 0) == 999,
	   "items in order, some of them equal, are looked at once");
	ok(!comparisons(1, 0) && !comparisons(0, 0), "one item, none");
	ok(comparisons(1000, 1) > 999, "the last one is not in order");
}

/* An item whose key is chosen when it is compared, so that each pivot becomes one
   of the smallest items (McIlroy, "A Killer Adversary for Quicksort", 1999). */
struct undecided {
	uint64_t *key, *pivot, *decided;
	unsigned int *compared;
};

#define UNDECIDED UINT64_MAX

static int decide(const void *a, const void *b)
{
	const struct undecided *x = a, *y = b;

	++*x->compared;
	if (*x->key == UNDECIDED && *y->key == UNDECIDED)
		*(x->key == (uint64_t *)*x->pivot ? x : y)->key =
			++*x->decided;
	if (*x->key == UNDECIDED)
		*x->pivot = (uint64_t)(uintptr_t)x->key;
	else if (*y->key == UNDECIDED)
		*x->pivot = (uint64_t)(uintptr_t)y->key;
	return *x->key < *y->key ? -1 : *x->key > *y->key;
}

static void test_sort_adversary(void)
{
	static uint64_t keys[10000];
	static struct undecided items[10000];
	uint64_t pivot = 0, decided = 0;
	unsigned int compared = 0;
	size_t i;

	for (i = 0; i < 10000; i++) {
		keys[i] = UNDECIDED;
		items[i] = (struct undecided){ &keys[i], &pivot, &decided,
					       &compared };
	}
	sort_in_place(items, 10000, sizeof(*items), decide);
	for (i = 1; i < 10000 && *items[i - 1].key <= *items[i].key; i++)
		;
	ok(i == 10000, "the worst order of items is sorted");
	/* log2(10000) is 13.3; quadratic would be 50 million. */
	ok(compared < 6 * 133000, "without many more comparisons");
}

/* The greatest WANTED of 500 items, without sorting the others. */
static void test_sort_steps(size_t wanted)
{
	struct sortable ours[500], theirs[500];
	uint32_t x = 9;
	size_t i, n = 500;

	for (i = 0; i < n; i++) {
		x = x * 1103515245 + 12345;
		ours[i] = (struct sortable){ .key = (x >> 8) % 50 };
		theirs[i] = ours[i];
	}
	sort_begin(ours, n, sizeof(*ours), by_key);
	for (i = 0; i < wanted; i++)
		sort_step(ours, n - i, sizeof(*ours), by_key);
	qsort(theirs, n, sizeof(*theirs), by_key);
	ok(!memcmp(ours + n - wanted, theirs + n - wanted,
		   wanted * sizeof(*ours)),
	   "the greatest %zu come to the end", wanted);
}

/* Against one bool per number. */
static void test_numbers(void)
{
	bool model[300] = { false };
	struct numlist list = { .n = 0 };
	unsigned int i, wrong = 0, n = 0;
	struct context cx;
	uint32_t x = 5;

	context_init(&cx);
	ok(!numlist_has(&list, 0), "an empty list has no number");
	for (i = 0; i < 200; i++) {
		x = x * 1103515245 + 12345;
		wrong += numlist_add(&list, &cx, (x >> 8) % 300) != 0;
		model[(x >> 8) % 300] = true;
	}
	numlist_settle(&list);
	for (i = 0; i < 300; i++) {
		n += model[i];
		wrong += numlist_has(&list, i) != model[i];
	}
	is_int(wrong, 0, "a list has what was added to it");
	is_int(list.n, n, "each once");
	cx.max_memory = 64;
	while (!(i = (unsigned int)-numlist_add(&list, &cx, 7)))
		;
	is_int(i, ENOMEM, "and grows within the budget");
	free(list.list);
}

int main(void)
{
	test_bitmap_random(300);
	test_bitmap_random(256);
	test_bitmap_random(1);
	test_bitmap_limits();
	test_array();
	test_numbers();
	test_sort(0, 1, "nothing is sorted");
	test_sort(1, 1, "one item is");
	test_sort(2, 100, "two are");
	test_sort(999, 5, "many with few keys are");
	test_sort(1000, 1 << 20, "many with many keys are");
	test_sorted();
	test_sort_adversary();
	test_sort_steps(1);
	test_sort_steps(77);
	test_sort_steps(500);
	return tap_done();
}
