// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A sparse array: chunks are allocated when one of their counts is needed.  The
 * counted numbers are close together or in few places, so memory is
 * proportional to their number and not to the largest one.
 */
#include "log/tables/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define CHUNK 1024u

int tally_add(struct tally *t, struct context *cx, uint64_t i, int32_t n)
{
	size_t chunk = i / CHUNK, room = t->nchunks;

	if (chunk >= room) {
		if (array_reserve(cx, &t->chunks, &room, chunk + 1))
			return -ENOMEM;
		memset(t->chunks + t->nchunks, 0,
		       (room - t->nchunks) * sizeof(*t->chunks));
		t->nchunks = room;
	}
	if (!t->chunks[chunk]) {
		t->chunks[chunk] = calloc(CHUNK, sizeof(int32_t));
		if (!t->chunks[chunk])
			return fail(cx, -ENOMEM, "counts");
	}
	t->chunks[chunk][i % CHUNK] += n;
	return 0;
}

int32_t tally_get(const struct tally *t, uint64_t i)
{
	if (i / CHUNK >= t->nchunks || !t->chunks[i / CHUNK])
		return 0;
	return t->chunks[i / CHUNK][i % CHUNK];
}

bool tally_next(const struct tally *t, uint64_t *i)
{
	while (*i / CHUNK < t->nchunks) {
		const int32_t *chunk = t->chunks[*i / CHUNK];

		if (!chunk)
			*i = (*i / CHUNK + 1) * CHUNK;
		else if (chunk[*i % CHUNK])
			return true;
		else
			++*i;
	}
	return false;
}

void tally_fini(struct tally *t)
{
	size_t i;

	for (i = 0; i < t->nchunks; i++)
		free(t->chunks[i]);
	free(t->chunks);
	memset(t, 0, sizeof(*t));
}
