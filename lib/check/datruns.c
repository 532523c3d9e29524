// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries of the DAT as runs: made by the workers of one pass, each for itself,
 * and read only after it.
 *
 * Numbers of data and nodes alternate, so there may be several runs to a block.
 * Where there are many the block is read again instead.
 */
#include "check/datruns.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "disk/ondisk.h"

#define CHUNK 128u		/* entries: a block of 4 KiB */
#define CHUNK_RUNS 32u		/* at most: an eighth of it */
#define MOST_LIVES (1u << 15)
#define RECENT_LIVES 4u		/* that are searched */
#define MOST_NUMBER (UINT64_C(1) << 48)

int datruns_begin(struct datruns *r, struct context *cx, unsigned int workers,
		  uint64_t bytes)
{
	*r = (struct datruns){ .bytes = bytes / workers };
	r->parts = calloc(workers, sizeof(*r->parts));
	if (!r->parts)
		return fail(cx, -ENOMEM, "runs of the DAT");
	r->nparts = workers;
	return 0;
}

/* The index of the life of DE, or MOST_LIVES where there is no room for it. */
static uint32_t find_life(struct datruns_part *part, struct context *cx,
			  const struct nilfs_dat_entry *de)
{
	const struct datrun_life life = {
		le64_get(de->de_start), le64_get(de->de_end),
	};
	size_t i, n = part->nlives;

	for (i = n; i > 0 && i + RECENT_LIVES > n; i--)
		if (part->lives[i - 1].start == life.start &&
		    part->lives[i - 1].end == life.end)
			return (uint32_t)(i - 1);
	if (n == MOST_LIVES ||
	    array_reserve(cx, &part->lives, &part->lives_room, n + 1))
		return MOST_LIVES;
	part->lives[part->nlives++] = life;
	return (uint32_t)n;
}

void datruns_add(struct datruns *r, unsigned int worker,
		 const struct datscan_block *block)
{
	struct datruns_part *part = &r->parts[worker];
	struct context cx = { .max_memory = r->bytes };
	const struct nilfs_dat_entry *first, *de;
	uint32_t i, end, n, life, step;
	uint64_t blocknr;
	size_t before;

	for (i = 0; i < block->count; i = end) {
		end = block->count - i < CHUNK ? block->count : i + CHUNK;
		before = part->n;
		/* All entries of a chunk, or none of them. */
		for (; i < end && part->n < before + CHUNK_RUNS; i += n) {
			first = datscan_entry(block, i);
			blocknr = le64_get(first->de_blocknr);
			life = find_life(part, &cx, first);
			if (life == MOST_LIVES || blocknr >= MOST_NUMBER ||
			    block->first + i >= MOST_NUMBER ||
			    array_reserve(&cx, &part->list, &part->room,
					  part->n + 1))
				break;
			for (n = 1, step = 0; i + n < end; n++) {
				de = datscan_entry(block, i + n);
				if (n == 1)
					step = le64_get(de->de_blocknr) ==
					       blocknr + 1;
				if (le64_get(de->de_blocknr) !=
					    blocknr + (uint64_t)n * step ||
				    le64_get(de->de_start) !=
					    le64_get(first->de_start) ||
				    le64_get(de->de_end) !=
					    le64_get(first->de_end))
					break;
			}
			part->list[part->n++] = (struct datrun){
				.number = block->first + i,
				.count = (uint16_t)n, .blocknr = blocknr,
				.life = (uint16_t)life, .step = (uint8_t)step,
			};
		}
		if (i < end)
			part->n = before;
	}
}

static int compare_runs(const void *a, const void *b)
{
	const struct datrun *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

void datruns_finish(struct datruns *r)
{
	unsigned int i;

	for (i = 0; r->parts && i < r->nparts; i++)
		sort_in_place(r->parts[i].list, r->parts[i].n,
			      sizeof(*r->parts[i].list), compare_runs);
}

void datruns_fini(struct datruns *r)
{
	unsigned int i;

	for (i = 0; r->parts && i < r->nparts; i++) {
		free(r->parts[i].list);
		free(r->parts[i].lives);
	}
	free(r->parts);
	*r = (struct datruns){ 0 };
}

static bool ends_before(const void *item, const void *key)
{
	const struct datrun *run = item;

	return run->number + run->count <= *(const uint64_t *)key;
}

bool datruns_expand(const struct datruns *r, const struct palloc *palloc,
		    const struct palloc_block *what, char *buf)
{
	const uint64_t end = what->first + what->count;
	const struct datruns_part *part;
	const struct datrun_life *life;
	const struct datrun *run;
	uint64_t at = end, until, blocknr;
	struct nilfs_dat_entry *de;
	size_t k;

	/* All of a block is in one part. */
	for (part = r->parts; part < r->parts + r->nparts; part++) {
		at = what->first;
		k = search_first(part->list, part->n, sizeof(*part->list),
				 ends_before, &at);
		for (; at < end && k < part->n; k++) {
			run = &part->list[k];
			if (run->number > at)
				break;
			until = run->number + run->count;
			until = until < end ? until : end;
			life = &part->lives[run->life];
			blocknr = run->blocknr + (at - run->number) * run->step;
			for (; at < until; at++, blocknr += run->step) {
				de = (void *)(buf + (at - what->first) *
						    palloc->entry_size);
				de->de_blocknr = le64_make(blocknr);
				de->de_start = le64_make(life->start);
				de->de_end = le64_make(life->end);
			}
		}
		if (at == end)
			return true;
	}
	return false;
}
