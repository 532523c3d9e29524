// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Live blocks, counted over a hand-made DAT.
 *
 * The volume has just what is needed: a DAT of one block of entries after a
 * descriptor and a bitmap, and a cpfile of one block with a snapshot.  What
 * is expected follows from the definition, entry by entry.
 */
#include "vol/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "vol/holdings.h"
#include "vol/volume.h"

#include "tap.h"

#define BLOCK 1024u
#define BLOCKS 256u
#define DAT_BLOCK 20u		/* and the two after it */
#define CPFILE_BLOCK 30u

static struct volume vol;
static struct context cx;
static char disk[BLOCKS * BLOCK];

static void lay_entry(uint64_t vblocknr, bool used, uint64_t blocknr,
		      uint64_t start, uint64_t end)
{
	struct nilfs_dat_entry de = {
		.de_blocknr = le64_make(blocknr),
		.de_start = le64_make(start),
		.de_end = le64_make(end),
	};

	memcpy(disk + (DAT_BLOCK + 2) * BLOCK + vblocknr * sizeof(de), &de,
	       sizeof(de));
	if (used)
		disk[(DAT_BLOCK + 1) * BLOCK + vblocknr / 8] |=
			(char)(1 << vblocknr % 8);
}

static void lay_dat(void)
{
	lay_entry(1, true, CPFILE_BLOCK, 1, NILFS_CNO_MAX);
	lay_entry(2, true, 33, 1, NILFS_CNO_MAX);	/* current */
	lay_entry(3, true, 34, 1, 3);		/* held by snapshot 2 */
	lay_entry(4, true, 49, 3, 5);		/* ended at 5 */
	lay_entry(5, true, 50, 2, 2);		/* never in a checkpoint */
	lay_entry(6, false, 51, 1, NILFS_CNO_MAX);	/* freed */
	lay_entry(7, true, 100000, 1, NILFS_CNO_MAX);	/* nowhere */
	lay_entry(8, true, 0, 1, NILFS_CNO_MAX);	/* not written yet */
	lay_entry(9, true, 52, 3, 4);		/* after the snapshot */
}

/* Checkpoints 2, 3 and 4; 1 was deleted, 2 is a snapshot. */
static void lay_cpfile(void)
{
	struct nilfs_checkpoint cp;
	uint64_t cno;

	for (cno = 1; cno <= 4; cno++) {
		memset(&cp, 0, sizeof(cp));
		cp.cp_cno = le64_make(cno);
		if (cno == 1)
			cp.cp_flags = le32_make(1u << NILFS_CHECKPOINT_INVALID);
		if (cno == 2)
			cp.cp_flags = le32_make(1u <<
						NILFS_CHECKPOINT_SNAPSHOT);
		memcpy(disk + CPFILE_BLOCK * BLOCK + cno * sizeof(cp), &cp,
		       sizeof(cp));
	}
}

static void open_file(struct file *file, uint64_t ino, unsigned int count,
		      uint64_t ptr)
{
	struct nilfs_inode inode;
	unsigned int i;

	memset(&inode, 0, sizeof(inode));
	inode.i_mode = le16_make(0100644);
	for (i = 0; i < count; i++)
		inode.i_bmap[1 + i] = le64_make(ptr + i);
	if (file_init(file, &cx, &vol, ino, &inode))
		exit(99);
}

static void open_volume(void)
{
	context_init(&cx);
	vol.geo = (struct nilfs_geometry){
		.block_size = BLOCK,
		.block_bits = 10,
		.blocks_per_segment = 16,
		.inode_size = 128,
		.dat_entry_size = 32,
		.checkpoint_size = 192,
		.first_data_block = 4,
		.nsegments = BLOCKS / 16,
		.nblocks = BLOCKS,
	};
	vol.latest.cno = 4;
	palloc_init(&vol.dat_palloc, BLOCK, 32);
	lay_dat();
	lay_cpfile();
	if (memory_open(&vol.dev, &cx, disk, sizeof(disk)) ||
	    cache_open(&vol.cache, &cx, vol.dev, BLOCK, 64 * BLOCK))
		exit(98);
	open_file(&vol.dat, NILFS_DAT_INO, 3, DAT_BLOCK);
	open_file(&vol.cpfile, NILFS_CPFILE_INO, 1, 1);
}

static void test_counts(unsigned int threads)
{
	struct liveness_counts c;
	struct liveness *l;

	cx.threads = threads;
	is_int(liveness_count(&vol, &cx, UINT64_MAX, &l), 0, "counted");
	c = liveness_of(l, 1);
	ok(c.current == 4 && !c.snapshot && !c.protected,
	   "the DAT's own blocks and the cpfile's are live");
	c = liveness_of(l, 2);
	ok(c.current == 1 && c.snapshot == 1,
	   "a current block, and one that a snapshot holds");
	c = liveness_of(l, 3);
	ok(!c.current && !c.snapshot && !c.protected,
	   "ended, empty, freed and younger than the snapshot: all dead");
	is_int(l->strays, 1, "one entry leads nowhere");
	is_int(liveness_of(l, 1u << 20).current, 0, "no such segment: zeros");
	liveness_free(l);
}

static void test_protection(void)
{
	struct liveness *l;

	is_int(liveness_count(&vol, &cx, 4, &l), 0, "counted");
	is_int(liveness_of(l, 3).protected, 1,
	       "what ended after checkpoint 4 is protected, at 4 is not");
	is_int(liveness_of(l, 2).snapshot, 1, "a snapshot's stays a snapshot's");
	liveness_free(l);
}

static void test_holdings(void)
{
	const uint64_t cnos[] = { 2, 3, 4 };
	uint64_t blocks[3] = { 0 };
	struct holdings h = { .cnos = cnos, .blocks = blocks, .count = 3 };

	is_int(holdings_count(&vol, &cx, &h), 0, "holdings counted");
	is_int(blocks[0], 1, "2 alone keeps what lives from 1 to 3");
	is_int(blocks[1], 1, "3 alone keeps what lives from 3 to 4");
	is_int(blocks[2], 0, "what 3 and 4 share goes with neither");
}

int main(void)
{
	open_volume();
	test_counts(1);
	test_counts(3);
	test_protection();
	test_holdings();
	cache_close(vol.cache);
	dev_close(vol.dev);
	return tap_done();
}
