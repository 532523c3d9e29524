// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of live blocks, over DATs made at random, against the definition.
 *
 * Five checkpoint numbers of nine are snapshots, two are not in use; entries begin and end at any
 * of them, at none and at the last number there is, and point to blocks of
 * some segments, outside them and nowhere.  A model looks at one entry after
 * the other and at all snapshots for each.  The same for counts that are made
 * those of another DAT, which shares some blocks with the first.
 */
#include "vol/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "disk/checkpoint.h"
#include "vol/volume.h"

#include "tap.h"

#define BLOCK 1024u
#define BLOCKS 128u
#define SEGMENT 16u
#define SEGMENTS (BLOCKS / SEGMENT)
#define ENTRY_BLOCKS 4u
#define CHECKPOINTS 9u

static const bool is_snapshot[CHECKPOINTS + 1] = {
	[2] = true, [3] = true, [5] = true, [6] = true, [8] = true,
};

static const bool is_deleted[CHECKPOINTS + 1] = { [4] = true, [7] = true };

static struct volume vol;
static struct context cx;
static char disk[BLOCKS * BLOCK];
static uint64_t dat_at[2 + ENTRY_BLOCKS];	/* where its blocks are */

/* What the counts have to be. */
static struct liveness_counts model[SEGMENTS];
static uint64_t entries, strays, old;

static uint32_t random_below(uint32_t limit)
{
	static uint32_t x = 7;

	x = x * 1103515245 + 12345;
	return (x >> 8) % limit;
}

/* A file of COUNT blocks of the disk, AT which they are. */
static void make_file(struct file *file, struct volume *of, const uint64_t *at,
		      unsigned int count)
{
	struct nilfs_inode inode;
	unsigned int i;

	memset(&inode, 0, sizeof(inode));
	inode.i_mode = le16_make(0100644);
	for (i = 0; i < count; i++)
		inode.i_bmap[1 + i] = le64_make(at[i]);
	if (file_init(file, &cx, of, NILFS_DAT_INO, &inode))
		exit(98);
}

static void make_checkpoints(void)
{
	static const uint64_t at[] = { 30, 31 };
	unsigned int cno;

	make_file(&vol.cpfile, &vol, at, 2);
	vol.latest.cno = CHECKPOINTS;
	for (cno = 1; cno <= CHECKPOINTS; cno++) {
		struct nilfs_checkpoint cp;

		memset(&cp, 0, sizeof(cp));
		cp.cp_flags = le32_make(is_snapshot[cno] ?
					1U << NILFS_CHECKPOINT_SNAPSHOT :
					is_deleted[cno] ?
					1U << NILFS_CHECKPOINT_INVALID : 0);
		cp.cp_cno = le64_make(cno);
		memcpy(disk + (30 + checkpoint_blkoff(&vol.geo, cno)) * BLOCK +
		       checkpoint_offset(&vol.geo, cno), &cp, sizeof(cp));
	}
}

static void open_volume(uint32_t entry_size, unsigned int threads)
{
	unsigned int i;

	memset(disk, 0, sizeof(disk));
	memset(model, 0, sizeof(model));
	entries = strays = old = 0;
	context_init(&cx);
	cx.threads = threads;
	memset(&vol, 0, sizeof(vol));
	vol.geo = (struct nilfs_geometry){
		.block_size = BLOCK,
		.block_bits = 10,
		.blocks_per_segment = SEGMENT,
		.dat_entry_size = entry_size,
		.checkpoint_size = sizeof(struct nilfs_checkpoint),
		.first_data_block = 2,
		.nsegments = SEGMENTS - 1,
		.nblocks = BLOCKS,
	};
	palloc_init(&vol.dat_palloc, BLOCK, entry_size);
	if (memory_open(&vol.dev, &cx, disk, sizeof(disk)) ||
	    cache_open(&vol.cache, &cx, vol.dev, BLOCK, 64 * BLOCK))
		exit(99);
	/* Its blocks, two before the end of segment 0, are live themselves. */
	for (i = 0; i < 2 + ENTRY_BLOCKS; i++)
		dat_at[i] = SEGMENT - 2 + i;
	make_file(&vol.dat, &vol, dat_at, 2 + ENTRY_BLOCKS);
	model[0].current = 2;
	model[1].current = ENTRY_BLOCKS;
	make_checkpoints();
}

static void close_volume(void)
{
	cache_close(vol.cache);
	dev_close(vol.dev);
}

static uint64_t random_cno(void)
{
	uint32_t cno = random_below(CHECKPOINTS + 6);

	return cno > CHECKPOINTS + 1 ? NILFS_CNO_MAX :
		cno > CHECKPOINTS ? NILFS_CNO_MAX - 1 : cno;
}

/* Mostly near the last one. */
static uint64_t random_block(uint64_t last)
{
	switch (random_below(12)) {
	case 0:
		return 0;
	case 1:
		return BLOCKS - 1 - random_below(SEGMENT);
	case 2:
		return UINT64_MAX - random_below(3);
	case 3:
		return random_below(BLOCKS);
	default:
		return last ^ random_below(4);
	}
}

static void count_in_model(uint64_t blocknr, uint64_t start, uint64_t end,
			   uint64_t protect_cno)
{
	struct liveness_counts *counts;
	bool held = false, listed = false;
	uint64_t cno;

	if (!blocknr)
		return;
	entries++;
	if (blocknr < 2 || blocknr >= BLOCKS - SEGMENT) {
		strays++;
		return;
	}
	counts = &model[blocknr / SEGMENT];
	for (cno = start; cno < end && cno <= CHECKPOINTS; cno++) {
		held |= is_snapshot[cno];
		listed |= cno && !is_deleted[cno];
	}
	old += listed && !held && end != NILFS_CNO_MAX;
	if (end == NILFS_CNO_MAX)
		counts->current++;
	else if (held)
		counts->snapshot++;
	else if (start < end && end > protect_cno)
		counts->protected++;
}

/* About USED of 16 are in use; those that are not look alike. */
static void make_entries(unsigned int used, uint64_t protect_cno)
{
	char *bitmap = disk + dat_at[1] * BLOCK;
	uint32_t i, n = ENTRY_BLOCKS * vol.dat_palloc.entries_per_block;
	uint64_t blocknr = 40;

	for (i = 0; i < n; i++) {
		uint64_t start = random_cno(), end = random_cno();
		struct nilfs_dat_entry de;

		blocknr = random_block(blocknr);
		memset(&de, 0, sizeof(de));
		de.de_blocknr = le64_make(blocknr);
		de.de_start = le64_make(start);
		de.de_end = le64_make(end);
		memcpy(disk + (palloc_entry_blkoff(&vol.dat_palloc, i) +
			       SEGMENT - 2) * BLOCK +
		       palloc_entry_offset(&vol.dat_palloc, i), &de,
		       sizeof(de));
		if (random_below(16) >= used)
			continue;
		bitmap[i / 8] = (char)(bitmap[i / 8] | 1 << i % 8);
		count_in_model(blocknr, start, end, protect_cno);
	}
}

static void test_random(uint32_t entry_size, unsigned int threads,
			unsigned int used, uint64_t protect_cno)
{
	unsigned int i, wrong = 0;
	struct liveness *l = NULL;

	open_volume(entry_size, threads);
	make_entries(used, protect_cno);
	if (liveness_count(&vol, &cx, protect_cno, &l))
		exit(97);
	for (i = 0; i < SEGMENTS; i++) {
		struct liveness_counts c = liveness_of(l, i);

		wrong += c.current != model[i].current ||
			 c.snapshot != model[i].snapshot ||
			 c.protected != model[i].protected;
	}
	ok(!wrong, "entries of %u bytes, %u of 16 in use: segments are right",
	   entry_size, used);
	is_int(l->entries, entries, "entries that point somewhere");
	is_int(l->strays, strays, "and outside the segments");
	liveness_free(l);
	if (liveness_count_old(&vol, &cx, protect_cno, &l))
		exit(97);
	for (i = 0; i < SEGMENTS; i++) {
		struct liveness_counts c = liveness_of(l, i);

		wrong += c.current != model[i].current ||
			 c.snapshot != model[i].snapshot ||
			 c.protected != model[i].protected;
	}
	ok(!wrong && l->old == old, "the same, and what old checkpoints alone have");
	liveness_free(l);
	close_volume();
}

/* Entry I, which is on the disk. */
static struct nilfs_dat_entry read_entry(uint32_t i)
{
	uint64_t blkoff = palloc_entry_blkoff(&vol.dat_palloc, i);
	struct nilfs_dat_entry de;

	memcpy(&de, disk + dat_at[blkoff] * BLOCK +
	       palloc_entry_offset(&vol.dat_palloc, i), sizeof(de));
	return de;
}

/* The model of what the DAT has become. */
static void count_all_in_model(uint64_t protect_cno)
{
	uint32_t i, n = ENTRY_BLOCKS * vol.dat_palloc.entries_per_block;
	const char *bitmap = disk + dat_at[1] * BLOCK;
	struct nilfs_dat_entry de;

	memset(model, 0, sizeof(model));
	entries = strays = old = 0;
	for (i = 0; i < 2 + ENTRY_BLOCKS; i++)
		model[dat_at[i] / SEGMENT].current++;
	for (i = 0; i < n; i++) {
		if (!palloc_bit(bitmap, i))
			continue;
		de = read_entry(i);
		count_in_model(le64_get(de.de_blocknr), le64_get(de.de_start),
			       le64_get(de.de_end), protect_cno);
	}
}

/* Another entry, or the other bit: those in blocks that are another's stay. */
static void change_entry(uint32_t i)
{
	uint64_t blkoff = palloc_entry_blkoff(&vol.dat_palloc, i);
	struct nilfs_dat_entry de = {
		.de_blocknr = le64_make(random_block(40)),
		.de_start = le64_make(random_cno()),
		.de_end = le64_make(random_cno()),
	};

	if (dat_at[1] > 2 * SEGMENT && !random_below(3))
		disk[dat_at[1] * BLOCK + i / 8] ^= (char)(1 << i % 8);
	if (dat_at[blkoff] > 2 * SEGMENT && !random_below(2))
		memcpy(disk + dat_at[blkoff] * BLOCK +
		       palloc_entry_offset(&vol.dat_palloc, i), &de,
		       sizeof(de));
}

/* A copy of the blocks of the DAT in WHICH goes elsewhere, and is changed. */
static void change_dat(struct volume *to, unsigned int which)
{
	uint32_t i, n = ENTRY_BLOCKS * vol.dat_palloc.entries_per_block;

	for (i = 0; i < 2 + ENTRY_BLOCKS; i++) {
		if (!(which >> i & 1))
			continue;
		memcpy(disk + (70 + i) * BLOCK, disk + dat_at[i] * BLOCK,
		       BLOCK);
		dat_at[i] = 70 + i;
	}
	for (i = 0; i < n; i++)
		if (!random_below(4))
			change_entry(i);
	*to = vol;
	if (cache_open(&to->cache, &cx, vol.dev, BLOCK, 64 * BLOCK))
		exit(99);
	make_file(&to->dat, to, dat_at, 2 + ENTRY_BLOCKS);
}

static void test_update(uint32_t entry_size, unsigned int which,
			uint64_t protect_cno)
{
	struct liveness *l = NULL;
	unsigned int i, wrong = 0;
	struct volume to;

	open_volume(entry_size, 1);
	make_entries(10, protect_cno);
	if (liveness_count(&vol, &cx, protect_cno, &l))
		exit(97);
	change_dat(&to, which);
	count_all_in_model(protect_cno);
	is_int(liveness_update(l, &cx, &vol, &to), 0, "counts are updated");
	for (i = 0; i < SEGMENTS; i++) {
		struct liveness_counts c = liveness_of(l, i);

		wrong += c.current != model[i].current ||
			 c.snapshot != model[i].snapshot ||
			 c.protected != model[i].protected;
	}
	ok(!wrong && l->entries == entries && l->strays == strays,
	   "entries of %u bytes, blocks 0x%x of the DAT changed: they are right",
	   entry_size, which);
	liveness_free(l);
	cache_close(to.cache);
	close_volume();
}

int main(void)
{
	static const uint64_t protect[] = { UINT64_MAX, 0, 4, 9 };
	static const unsigned int used[] = { 16, 15, 8, 1, 0 };
	unsigned int round, i;

	for (round = 0; round < 8; round++)
		for (i = 0; i < sizeof(used) / sizeof(used[0]); i++)
			test_random(round & 1 ? 40 : 32, 1 + (round & 2),
				    used[i], protect[(round + i) % 4]);
	for (i = 0; i < 1u << (2 + ENTRY_BLOCKS); i++)
		test_update(i % 3 ? 32 : 40, i, protect[i / 3 % 4]);
	return tap_done();
}
