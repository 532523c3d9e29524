// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What was reported already.
 *
 * A set of 64-bit hashes of fixed size: a volume with more damage than that is
 * told of it more than once, which hardly matters then.
 */
#include "check/reported.h"

#include <stdlib.h>

#define SLOTS (1u << 16)
#define USED_MAX (SLOTS / 4 * 3)

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 32;
}

bool reported_add(struct reported *told, const struct reported_key *key)
{
	uint64_t h = mix(mix(mix(1, key->what), key->where), key->which) | 1;
	size_t i = (size_t)(h >> 40) & (SLOTS - 1);

	if (!told->slots)
		told->slots = calloc(SLOTS, sizeof(*told->slots));
	if (!told->slots || told->used >= USED_MAX)
		return true;
	while (told->slots[i] && told->slots[i] != h)
		i = (i + 1) & (SLOTS - 1);
	if (told->slots[i])
		return false;
	told->slots[i] = h;
	told->used++;
	return true;
}

void reported_fini(struct reported *told)
{
	free(told->slots);
	*told = (struct reported){ .slots = NULL };
}
