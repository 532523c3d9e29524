// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses as numbers.
 *
 * A hash table finds chunks of 64 blocks, each with a bit for each written
 * block.  This takes one bit per block if blocks are close together, and less
 * than a hundred bytes for a single one.  Numbers are known only when all
 * addresses are: until then a block is identified by its chunk and bit.  Blocks
 * written by one request are adjacent and all written, so their numbers are
 * consecutive, also across chunks.
 */
#include "gc/sim/trace/simaddress.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/size.h"

#define CHUNKS_MAX (UINT32_MAX / 2)

void simaddress_fini(struct simaddress *a)
{
	pairtable_fini(&a->table);
	free(a->chunks);
	free(a->places);
	*a = (struct simaddress){ 0 };
}

uint64_t simaddress_bytes(const struct simaddress *a)
{
	return a->room * sizeof(*a->chunks) +
	       a->table.room * sizeof(*a->table.slots) +
	       (a->places ? a->nchunks * sizeof(*a->places) : 0);
}

static int too_large(struct context *cx)
{
	char text[SIZE_TEXT_MAX];

	return fail_said(cx, -ENOMEM, "memory: the table of the addresses that "
			 "the trace writes takes more than %s, which is "
			 "--max-memory: lower it by --block-size (larger)",
			 size_format(cx->max_memory, text));
}

/* COUNT bits of a chunk from FIRST on, or as many as there are. */
static uint64_t bits_from(unsigned int first, uint64_t count)
{
	uint64_t all = ~UINT64_C(0) << first;

	return count >= SIMADDRESS_CHUNK - first ?
		       all : all & ((UINT64_C(1) << (first + count)) - 1);
}

int simaddress_touch(struct simaddress *a, struct context *cx, uint32_t file,
		     uint64_t block, uint64_t count, uint64_t *slot)
{
	const struct pairtable_entry *entry;
	uint64_t end = block + count, number;
	bool is_first = true, is_known;
	unsigned int bit;
	uint32_t chunk;

	for (; block < end; block = (number + 1) * SIMADDRESS_CHUNK) {
		number = block / SIMADDRESS_CHUNK;
		is_known = a->last_chunk && a->last_file == file &&
			   a->last_number == number;
		entry = is_known ? NULL :
				   pairtable_find(&a->table, file, number);
		if (is_known) {
			chunk = a->last_chunk - 1;
		} else if (entry) {
			chunk = (uint32_t)entry->value - 1;
		} else {
			if (a->nchunks == CHUNKS_MAX ||
			    array_reserve(cx, &a->chunks, &a->room,
					  a->nchunks + 1))
				return too_large(cx);
			chunk = (uint32_t)a->nchunks;
			a->chunks[a->nchunks++] =
				(struct simaddress_chunk){ 0 };
			if (pairtable_add(&a->table, cx, file, number,
					  a->nchunks) ||
			    simaddress_bytes(a) > cx->max_memory)
				return too_large(cx);
		}
		a->last_file = file;
		a->last_number = number;
		a->last_chunk = chunk + 1;
		bit = block % SIMADDRESS_CHUNK;
		a->chunks[chunk].written |= bits_from(bit, end - block);
		if (is_first)
			*slot = (uint64_t)chunk * SIMADDRESS_CHUNK + bit;
		is_first = false;
	}
	return 0;
}

int simaddress_settle(struct simaddress *a, struct context *cx,
		      const struct simaddress_file *files, size_t nfiles,
		      bool raw, uint32_t block_size, uint64_t *blocks)
{
	uint64_t gaps = 0, at, first;
	size_t i, f;

	a->places = calloc(a->nchunks + 1, sizeof(*a->places));
	if (!a->places)
		return fail(cx, -ENOMEM, "table of addresses");
	/* Sort by file and number. */
	pairtable_sort(&a->table);
	for (i = 0; i < a->nchunks; i++) {
		const struct pairtable_entry *e = &a->table.slots[i];

		a->places[i] = (struct simaddress_place){
			.file = (uint32_t)e->dev,
			.number = e->ino,
			.chunk = (uint32_t)e->value - 1,
		};
	}
	pairtable_fini(&a->table);
	a->last_chunk = 0;
	for (f = i = 0; f < nfiles; f++) {
		if (raw)
			gaps = div_round_up(files[f].end, block_size);
		at = first = blocks[files[f].volume];
		for (; i < a->nchunks && a->places[i].file == f; i++) {
			const struct simaddress_place *p = &a->places[i];
			struct simaddress_chunk *c = &a->chunks[p->chunk];

			first = gaps ? at + p->number * SIMADDRESS_CHUNK : at;
			if (first >= UINT32_MAX)
				break;
			c->first = (uint32_t)first;
			if (!gaps)
				at += (unsigned int)__builtin_popcountll(
					c->written);
		}
		at += gaps;
		if (first >= UINT32_MAX || at >= UINT32_MAX)
			return fail(cx, -EINVAL, "volume: reaches further than "
				    "can be simulated");
		blocks[files[f].volume] = at;
	}
	return 0;
}

void simaddress_range(const struct simaddress *a, uint32_t file, uint64_t first,
		      uint64_t last, bool raw, uint64_t *block, uint64_t *count)
{
	size_t i = 0, high = a->nchunks, middle;

	/* The first chunk at or after that of FIRST. */
	while (i < high) {
		const struct simaddress_place *p;

		middle = i + (high - i) / 2;
		p = &a->places[middle];
		if (p->file < file || (p->file == file &&
				       p->number < first / SIMADDRESS_CHUNK))
			i = middle + 1;
		else
			high = middle;
	}
	*count = 0;
	for (; i < a->nchunks && a->places[i].file == file; i++) {
		const struct simaddress_place *p = &a->places[i];
		uint64_t start = p->number * SIMADDRESS_CHUNK, bits;
		unsigned int bit = 0;

		if (start >= last)
			break;
		if (first > start)
			bit = (unsigned int)(first - start);
		bits = a->chunks[p->chunk].written &
		       bits_from(bit, last - start - bit);
		if (!bits)
			continue;
		bit = (unsigned int)__builtin_ctzll(bits);
		if (!*count)
			*block = simaddress_block(a, (uint64_t)p->chunk *
						  SIMADDRESS_CHUNK + bit, raw);
		/*
		 * With gaps, up to the last written block; otherwise without
		 * gaps.
		 */
		if (raw)
			*count = a->chunks[p->chunk].first + SIMADDRESS_CHUNK -
				 (unsigned int)__builtin_clzll(bits) - *block;
		else
			*count += (unsigned int)__builtin_popcountll(bits);
	}
}
