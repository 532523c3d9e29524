// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bitmaps: the functions that walk words.
 *
 * Bits of the last word after the end are never set, so counting needs no mask.  A
 * search for a clear bit finds the first bit after the end if there is none in the
 * set, which is the result "none".
 */
#include "base/bitmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

int bitmap_init(struct bitmap *map, struct context *cx, uint64_t bits)
{
	uint64_t words = div_round_up(bits, 64);

	map->bits = 0;
	map->words = NULL;
	if (words <= cx->max_memory / sizeof(*map->words))
		map->words = calloc(words ? words : 1, sizeof(*map->words));
	if (!map->words)
		return fail(cx, -ENOMEM, "bitmap of %" PRIu64 " bits", bits);
	map->bits = bits;
	return 0;
}

int bitmap_copy(struct bitmap *map, struct context *cx,
		const struct bitmap *from)
{
	int ret = bitmap_init(map, cx, from->bits);

	if (!ret)
		memcpy(map->words, from->words,
		       div_round_up(from->bits, 64) * sizeof(*map->words));
	return ret;
}

void bitmap_fini(struct bitmap *map)
{
	free(map->words);
	map->words = NULL;
	map->bits = 0;
}

uint64_t bitmap_count(const struct bitmap *map, uint64_t end)
{
	uint64_t i, count = 0;

	if (end > map->bits)
		end = map->bits;
	for (i = 0; i < end / 64; i++)
		count += (uint64_t)__builtin_popcountll(map->words[i]);
	if (end % 64)
		count += (uint64_t)__builtin_popcountll(
			map->words[i] & ~(UINT64_MAX << end % 64));
	return count;
}

/* Searches for a set bit in the words or, with FLIP all ones, in their inverse. */
static uint64_t bitmap_next(const struct bitmap *map, uint64_t from, uint64_t flip)
{
	uint64_t i, word;

	if (from >= map->bits)
		return map->bits;
	i = from / 64;
	word = (map->words[i] ^ flip) & UINT64_MAX << (from % 64);
	while (!word) {
		if (++i >= div_round_up(map->bits, 64))
			return map->bits;
		word = map->words[i] ^ flip;
	}
	return i * 64 + (uint64_t)__builtin_ctzll(word);
}

uint64_t bitmap_next_set(const struct bitmap *map, uint64_t from)
{
	return bitmap_next(map, from, 0);
}

uint64_t bitmap_next_clear(const struct bitmap *map, uint64_t from)
{
	return bitmap_next(map, from, UINT64_MAX);
}
