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
#include "base/search.h"

#define CHUNK 1024u

/* The index of the chunk with number I, or of the first one after it. */
static size_t find_chunk(const struct tally *t, uint64_t i)
{
	if (t->last < t->nchunks && t->chunks[t->last].number == i)
		return t->last;
	return search_number(t->chunks, t->nchunks, sizeof(*t->chunks), i);
}

int tally_add(struct tally *t, struct context *cx, uint64_t i, int32_t n)
{
	size_t at = find_chunk(t, i / CHUNK);
	struct tally_chunk *chunk = t->chunks + at;
	int32_t *counts;

	if (at == t->nchunks || chunk->number != i / CHUNK) {
		counts = calloc(CHUNK, sizeof(*counts));
		if (!counts)
			return fail(cx, -ENOMEM, "counts");
		if (array_reserve(cx, &t->chunks, &t->room, t->nchunks + 1)) {
			free(counts);
			return -ENOMEM;
		}
		chunk = t->chunks + at;
		memmove(chunk + 1, chunk, (t->nchunks++ - at) * sizeof(*chunk));
		*chunk = (struct tally_chunk){ i / CHUNK, counts };
	}
	t->last = at;
	chunk->counts[i % CHUNK] += n;
	return 0;
}

int32_t tally_get(const struct tally *t, uint64_t i)
{
	size_t at = find_chunk(t, i / CHUNK);

	if (at == t->nchunks || t->chunks[at].number != i / CHUNK)
		return 0;
	return t->chunks[at].counts[i % CHUNK];
}

bool tally_next(const struct tally *t, uint64_t *i)
{
	size_t at = find_chunk(t, *i / CHUNK);
	uint64_t offset;

	for (; at < t->nchunks; at++) {
		const struct tally_chunk *chunk = t->chunks + at;

		offset = chunk->number == *i / CHUNK ? *i % CHUNK : 0;
		for (; offset < CHUNK; offset++) {
			if (!chunk->counts[offset])
				continue;
			*i = chunk->number * CHUNK + offset;
			return true;
		}
	}
	return false;
}

void tally_fini(struct tally *t)
{
	size_t i;

	for (i = 0; i < t->nchunks; i++)
		free(t->chunks[i].counts);
	free(t->chunks);
	memset(t, 0, sizeof(*t));
}
