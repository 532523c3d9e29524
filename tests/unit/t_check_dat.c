// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pass over a hand-made DAT on a device that ends too early: what cannot be
 * read is reported once, everything beside it is checked.
 *
 * Blocks of 1 KiB: descriptors, a bitmap, then 32 entries in a block.
 */
#include "config.h"

#include "check/check.h"
#include "check/logs/logindex.h"
#include "check/pass/passes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"

#include "tap.h"

#define BLOCK 1024u
#define BLOCKS 64u
#define DESCS 10u
#define BITMAP 11u
#define MOST 8u

static char disk[BLOCKS * BLOCK];

struct bench {
	struct context cx;
	struct volume vol;
	struct check check;
	struct finding found[MOST];
	unsigned int nfound;
};

static void note(void *arg, const struct finding *f)
{
	struct bench *b = arg;

	if (b->nfound < MOST)
		b->found[b->nfound] = *f;
	b->nfound++;
}

static void open_bench(struct bench *b)
{
	memset(disk, 0, sizeof(disk));
	memset(b, 0, sizeof(*b));
	context_init(&b->cx);
	b->vol.geo = (struct nilfs_geometry){
		.block_size = BLOCK,
		.block_bits = 10,
		.blocks_per_segment = 2 * BLOCKS,
		.first_data_block = 4,
		.nsegments = 1,
		.nblocks = 2 * BLOCKS,
		.dat_entry_size = 32,
		.checkpoint_size = sizeof(struct nilfs_checkpoint),
	};
	b->vol.latest.cno = 5;
	palloc_init(&b->vol.dat_palloc, BLOCK, 32);
	b->check.vol = &b->vol;
	if (memory_open(&b->vol.dev, &b->cx, disk, sizeof(disk)) ||
	    cache_open(&b->vol.cache, &b->cx, b->vol.dev, BLOCK, 16 * BLOCK) ||
	    findings_open(&b->check.findings, &b->cx, note, b, true) ||
	    logindex_open(&b->check.logindex, &b->cx, &b->vol.geo, NULL))
		exit(99);
}

static void close_bench(struct bench *b)
{
	sparse_fini(&b->check.claimed);
	sparse_fini(&b->check.claimed_twice);
	vblocks_runs_fini(&b->check.datruns);
	bitmap_fini(&b->check.live_segments);
	logindex_close(b->check.logindex);
	findings_close(b->check.findings);
	cache_close(b->vol.cache);
	dev_close(b->vol.dev);
}

static void set_entry(uint64_t blocknr, unsigned int i, uint64_t leads_to)
{
	struct nilfs_dat_entry *de = (void *)(disk + blocknr * BLOCK);

	de[i].de_blocknr = le64_make(leads_to);
	de[i].de_start = le64_make(1);
	de[i].de_end = le64_make(NILFS_CNO_MAX);
}

/* The first USED entries are in use; MAP are the blocks of the file. */
static void lay_dat(struct bench *b, unsigned int used, const uint64_t map[6])
{
	struct nilfs_inode inode = { .i_mode = le16_make(0100000) };
	const struct nilfs_inode nothing = { .i_mode = le16_make(0100000) };
	struct nilfs_palloc_group_desc *descs = (void *)(disk + DESCS * BLOCK);
	unsigned int i, blocks = 0;

	for (i = 0; i < BLOCK / sizeof(*descs); i++)
		descs[i].pg_nfrees = le32_make(8192 - (i ? 0 : used));
	for (i = 0; i < used; i++)
		disk[BITMAP * BLOCK + i / 8] |= (char)(1 << i % 8);
	for (i = 0; i < 6; i++) {
		inode.i_bmap[1 + i] = le64_make(map[i]);
		blocks += map[i] != 0;
	}
	inode.i_blocks = le64_make(blocks * (BLOCK / 512));
	if (file_init(&b->vol.dat, &b->cx, &b->vol, NILFS_DAT_INO, &inode) ||
	    file_init(&b->vol.cpfile, &b->cx, &b->vol, NILFS_CPFILE_INO,
		      &nothing))
		exit(99);
}

/* Blocks 63 and 64 follow one another, but 63 is the last of the device. */
static void test_unreadable(unsigned int threads)
{
	const uint64_t map[6] = { DESCS, BITMAP, 63, 64, 65, 20 };
	struct bench b;

	open_bench(&b);
	b.cx.threads = threads;
	set_entry(63, 5, 1);
	set_entry(63, 6, 40);
	set_entry(20, 31, 3);
	set_entry(20, 30, 41);
	lay_dat(&b, 4 * 32, map);
	is_int(pass_dat(&b.check, &b.cx), 0, "a DAT with two lost blocks");
	is_int(findings_count(b.check.findings, RULE_DEV_UNREADABLE), 2,
	       "has two findings for them");
	is_int(b.nfound, 4, "and two others");
	is_int(b.found[0].place.number, 5, "of the block before");
	ok(b.found[1].place.kind == PLACE_MAP && b.found[1].place.blkoff == 3 &&
	   b.found[2].place.blkoff == 4, "of each its place");
	is_int(b.found[3].place.number, 127, "and of the block behind");
	is_int(b.found[3].rule, RULE_DAT_BLOCKNR, "which leads outside");
	ok(sparse_test(&b.check.claimed, 40) &&
		   sparse_test(&b.check.claimed, 41),
	   "sound entries on both sides are claimed");
	is_int(sparse_count(&b.check.claimed), 8, "with the file's own blocks");
	ok(!b.check.dat_broken, "the map is not broken");
	is_str(b.cx.failure, "", "and no failure is left behind");
	close_bench(&b);
}

/* Blocks that are named twice, near and far from one another. */
static void test_double(void)
{
	const uint64_t map[6] = { DESCS, BITMAP, 20, 21 };
	struct bench b;
	unsigned int i;

	open_bench(&b);
	for (i = 1; i < 64; i++)
		set_entry(20 + i / 32, i % 32, 40 + i);
	set_entry(20, 2, 41);
	set_entry(21, 1, 43);
	set_entry(20, 20, 0);
	set_entry(21, 31, BITMAP);
	lay_dat(&b, 64, map);
	is_int(pass_dat(&b.check, &b.cx), 0, "entries that share blocks");
	is_int(b.nfound, 3, "are reported in pairs");
	ok(b.found[0].place.number == 63 && b.found[0].got == BITMAP,
	   "one with the DAT itself");
	ok(b.found[1].place.number == 2 && b.found[1].got == 41,
	   "one with its neighbour");
	ok(b.found[2].place.number == 33 && b.found[2].got == 43,
	   "one with another far away");
	is_int(findings_count(b.check.findings, RULE_DAT_DOUBLE), 3,
	       "all for that");
	is_int(sparse_count(&b.check.claimed), 4 + 63 - 4,
	       "and each block is claimed once");
	close_bench(&b);
}

/* With a pointer into nowhere nothing is said of the entries. */
static void test_broken(void)
{
	const uint64_t map[6] = { DESCS, BITMAP, 2 * BLOCKS, 3 };
	struct bench b;

	open_bench(&b);
	lay_dat(&b, 64, map);
	is_int(pass_dat(&b.check, &b.cx), 0, "a map that leads outside");
	is_int(b.nfound, 2, "is reported for each pointer");
	is_int(findings_count(b.check.findings, RULE_DAT_MAP_BLOCKNR), 2,
	       "and no more");
	ok(b.check.dat_broken, "the DAT counts as broken");
	close_bench(&b);
}

/* A damaged key of the map, below which there is nothing: a set of all numbers
   that it seems to have fits the memory all the same. */
static void test_end(void)
{
	struct nilfs_inode inode = { .i_mode = le16_make(0100000) };
	struct sparse numbers;
	struct bench b;

	open_bench(&b);
	memcpy(inode.i_bmap, (uint8_t[]){ 1, 2, 2 }, 3);
	inode.i_bmap[2] = le64_make(UINT64_C(1) << 56);
	if (file_init(&b.vol.dat, &b.cx, &b.vol, NILFS_DAT_INO, &inode))
		exit(99);
	is_int(sparse_init(&numbers, &b.cx, vblocks_end(&b.vol, &b.cx)), 0,
	       "a set of the numbers of a DAT with a damaged key");
	ok(numbers.bits > UINT64_C(1) << 32, "... which is as large as can be");
	sparse_fini(&numbers);
	close_bench(&b);
}

int main(void)
{
	test_unreadable(1);
	test_unreadable(3);
	test_double();
	test_broken();
	test_end();
	return tap_done();
}
