// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of the DAT as runs: what they expand to is what the blocks have, byte
 * for byte, whatever entries are; and what files written in one piece leave is
 * known.
 */
#include "check/vblocks.h"

#include <stdlib.h>
#include <string.h>

#include "disk/ondisk.h"

#include "tap.h"

#define BLOCK 4096u
#define GROUPS 3u
#define BUDGET (4u << 20)

static struct palloc palloc;
static struct context cx;
static uint32_t blocks;		/* of entries */
static struct nilfs_dat_entry *table;

static void set_entry(uint64_t i, uint64_t blocknr, uint64_t start,
		      uint64_t end)
{
	table[i] = (struct nilfs_dat_entry){
		.de_blocknr = le64_make(blocknr),
		.de_start = le64_make(start),
		.de_end = le64_make(end),
	};
}

static struct palloc_block block_of(uint32_t i)
{
	struct palloc_block what;

	palloc_locate(&palloc, palloc_entry_blkoff(&palloc, (uint64_t)i *
						   palloc.entries_per_block),
		      &what);
	return what;
}

/* Shows the table in pieces of N blocks, to two workers, the last group first. */
static void fill(struct datruns *r, uint32_t n, uint64_t bytes)
{
	uint32_t per_group = palloc.entries_per_group, i, count, group;
	static uint8_t bitmap[BLOCK];

	if (vblocks_runs_begin(r, &cx, 2, bytes))
		exit(99);
	for (group = GROUPS; group-- > 0;)
		for (i = 0; i < per_group; i += count) {
			count = n * palloc.entries_per_block;
			count = count < per_group - i ? count : per_group - i;
			vblocks_runs_add(r, group % 2, &(struct datscan_block){
				.first = (uint64_t)group * per_group + i,
				.count = count,
				.stride = palloc.entry_size,
				.entries = (void *)(table + group * per_group +
						    i),
				.bitmap = bitmap,
				.bit = i,
			});
		}
	vblocks_runs_finish(r);
}

/* How many blocks are known; -1 where one is not what it was. */
static int known(const struct datruns *r)
{
	char *buf = calloc(1, BLOCK);
	int n = 0;
	uint32_t i;

	for (i = 0; i < blocks && n >= 0; i++) {
		struct palloc_block what = block_of(i);

		memset(buf, 0, BLOCK);
		if (!vblocks_runs_expand(r, &palloc, &what, buf))
			continue;
		n = memcmp(buf, table + what.first, what.count *
						    palloc.entry_size)
			    ? -1 : n + 1;
	}
	free(buf);
	return n;
}

/* What FILL_TABLE makes is known to LEAST blocks at least. */
static void check_table(const char *what, void (*fill_table)(void), int least,
			int most, uint64_t bytes)
{
	static const uint32_t pieces[] = { 1, 3, 32 };
	size_t i;

	fill_table();
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct datruns r;
		int n;

		fill(&r, pieces[i], bytes);
		n = known(&r);
		ok(n >= least && n <= most, "%s, %u blocks at once: %d of %u",
		   what, pieces[i], n, blocks);
		vblocks_runs_fini(&r);
	}
}

/* Two streams, data and one node in twenty, as a formatter writes files. */
static void two_streams(void)
{
	uint64_t i, data = 1000, node = 5000000;

	for (i = 0; i < (uint64_t)GROUPS * palloc.entries_per_group; i++)
		set_entry(i, i % 20 ? data++ : node++, 1, UINT64_MAX);
}

/* Nothing was ever written. */
static void nothing(void)
{
	memset(table, 0, (size_t)GROUPS * palloc.entries_per_group *
			 sizeof(*table));
}

static uint64_t some(uint64_t below)
{
	return (uint64_t)random() % below;
}

/* No two neighbours have anything in common. */
static void noise(void)
{
	uint64_t i;

	for (i = 0; i < (uint64_t)GROUPS * palloc.entries_per_group; i++)
		set_entry(i, (uint64_t)random() << 33 | (uint64_t)random(),
			  (uint64_t)random(), (uint64_t)random());
}

/* Pieces of all lengths, with lives and places that are shared or not. */
static void pieces(void)
{
	uint64_t i = 0, n, at, step, start, end, all;

	all = (uint64_t)GROUPS * palloc.entries_per_group;
	while (i < all) {
		n = 1 + some(some(8) ? 200 : 3);
		at = some(5) ? some(1u << 30) : UINT64_MAX - some(100);
		step = some(2);
		start = some(10);
		end = some(3) ? UINT64_MAX : start + some(10);
		for (; n-- && i < all; i++, at += step)
			set_entry(i, at, start, end);
	}
}

/* More lives than can be remembered. */
static void lives(void)
{
	uint64_t i;

	for (i = 0; i < (uint64_t)GROUPS * palloc.entries_per_group; i++)
		set_entry(i, i + 50, i / 6, UINT64_MAX);
}

int main(void)
{
	context_init(&cx);
	srandom(1);
	palloc_init(&palloc, BLOCK, sizeof(*table));
	blocks = GROUPS * palloc.entries_per_group / palloc.entries_per_block;
	table = calloc((size_t)GROUPS * palloc.entries_per_group,
		       sizeof(*table));
	if (!table)
		return 99;
	check_table("two streams", two_streams, (int)blocks, (int)blocks,
		    BUDGET);
	check_table("nothing written", nothing, (int)blocks, (int)blocks,
		    BUDGET);
	check_table("noise", noise, 0, 0, BUDGET);
	check_table("pieces", pieces, 1, (int)blocks, BUDGET);
	check_table("many lives", lives, 1, (int)blocks, BUDGET);
	check_table("no memory", two_streams, 0, (int)blocks / 10, 4096);
	free(table);
	return tap_done();
}
