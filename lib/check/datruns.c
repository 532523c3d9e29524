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

/* The index of a life, or MOST_LIVES where there is no room for it. */
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

/* Whether DE has block BLOCKNR and the life of FIRST. */
static bool follows(const struct nilfs_dat_entry *de,
		    const struct nilfs_dat_entry *first, uint64_t blocknr)
{
	return le64_get(de->de_blocknr) == blocknr &&
	       le64_get(de->de_start) == le64_get(first->de_start) &&
	       le64_get(de->de_end) == le64_get(first->de_end);
}

/* Adds the run from entry I of BLOCK on, not beyond END: its length, 0. */
static uint32_t add_run(struct datruns_part *part, struct context *cx,
			const struct datscan_block *block, uint32_t i,
			uint32_t end)
{
	const struct nilfs_dat_entry *first = datscan_entry(block, i);
	uint64_t blocknr = le64_get(first->de_blocknr);
	uint32_t n = 1, step, life = find_life(part, cx, first);

	if (life == MOST_LIVES || blocknr >= MOST_NUMBER ||
	    block->first + i >= MOST_NUMBER ||
	    array_reserve(cx, &part->list, &part->room, part->n + 1))
		return 0;
	step = i + 1 < end && follows(datscan_entry(block, i + 1), first,
				      blocknr + 1);
	while (i + n < end && follows(datscan_entry(block, i + n), first,
				      blocknr + (uint64_t)n * step))
		n++;
	part->list[part->n++] = (struct datrun){
		.number = block->first + i, .count = (uint16_t)n,
		.blocknr = blocknr, .life = (uint16_t)life,
		.step = (uint8_t)step,
	};
	return n;
}

void datruns_add(struct datruns *r, unsigned int worker,
		 const struct datscan_block *block)
{
	struct datruns_part *part = &r->parts[worker];
	struct context cx = { .max_memory = r->bytes };
	uint32_t i, end, n;
	size_t before;

	for (i = 0; i < block->count; i = end) {
		end = block->count - i < CHUNK ? block->count : i + CHUNK;
		before = part->n;
		/* All entries of a chunk, or none of them. */
		for (n = 1; i < end && n && part->n < before + CHUNK_RUNS;
		     i += n)
			n = add_run(part, &cx, block, i, end);
		if (i < end || !n)
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

static bool expand_part(const struct datruns_part *part,
			const struct palloc *palloc, uint64_t at, uint64_t end,
			char *buf)
{
	size_t i = search_first(part->list, part->n, sizeof(*part->list),
				ends_before, &at);

	for (; at < end; i++) {
		const struct datrun *run = &part->list[i];
		const struct datrun_life *life;
		uint64_t until, blocknr;

		if (i == part->n || run->number > at)
			return false;
		until = run->number + run->count;
		until = until < end ? until : end;
		life = &part->lives[run->life];
		blocknr = run->blocknr + (at - run->number) * run->step;
		for (; at < until; at++, blocknr += run->step) {
			struct nilfs_dat_entry *de = (void *)buf;

			de->de_blocknr = le64_make(blocknr);
			de->de_start = le64_make(life->start);
			de->de_end = le64_make(life->end);
			buf += palloc->entry_size;
		}
	}
	return true;
}

bool datruns_expand(const struct datruns *r, const struct palloc *palloc,
		    const struct palloc_block *what, char *buf)
{
	unsigned int i;

	for (i = 0; i < r->nparts; i++)
		if (expand_part(&r->parts[i], palloc, what->first,
				what->first + what->count, buf))
			return true;
	return false;
}
