// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of checkpoints, segments and virtual blocks. */
#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "disk/segusage.h"
#include "disk/super.h"

#include "disk_image.h"
#include "tap.h"

static struct nilfs_geometry geometry(uint32_t block_size, uint32_t cp,
				      uint32_t su)
{
	return (struct nilfs_geometry){
		.block_size = block_size, .checkpoint_size = cp,
		.segment_usage_size = su, .nsegments = 1000,
		.blocks_per_segment = 256,
	};
}

static void test_checkpoint_places(void)
{
	struct nilfs_geometry g = geometry(4096, 192, 16);
	uint64_t cno, blkoff = 0, at = 192, wrong = 0;

	is_int(checkpoint_count(&g, 0), 20, "the header takes one place");
	is_int(checkpoint_count(&g, 1), 21, "other blocks have none");
	for (cno = 1; cno < 1000; cno++) {
		wrong += checkpoint_blkoff(&g, cno) != blkoff ||
			 checkpoint_offset(&g, cno) != at;
		at += 192;
		if (at + 192 <= 4096)
			continue;
		at = 0;
		blkoff++;
		wrong += checkpoint_first(&g, blkoff) != cno + 1;
	}
	is_int(wrong, 0, "checkpoints one after the other, none across");
	is_int(checkpoint_first(&g, 0), 1, "the first one is 1");
}

static void test_usage_places(uint32_t size, uint32_t first)
{
	struct nilfs_geometry g = geometry(1024, 192, size);
	uint64_t segnum, blkoff = 0, at = first * size, wrong = 0;

	for (segnum = 0; segnum < 1000; segnum++) {
		wrong += segusage_blkoff(&g, segnum) != blkoff ||
			 segusage_offset(&g, segnum) != at;
		at += size;
		if (at + size <= 1024)
			continue;
		at = 0;
		blkoff++;
		wrong += segusage_first(&g, blkoff) != segnum + 1;
	}
	ok(!wrong, "segment usages of %u bytes after %u places", size, first);
	is_int(segusage_count(&g, 0), 1024 / size - first, "the first block");
	is_int(segusage_count(&g, 1), 1024 / size, "the second block");
	is_int(segusage_nblocks(&g),
	       (1000 + first + 1024 / size - 1) / (1024 / size),
	       "blocks for all segments");
}

static void test_flags(void)
{
	struct nilfs_segment_usage su = { .su_flags = le32_make(3) };
	struct nilfs_checkpoint cp = { .cp_flags = le32_make(9) };

	ok(segusage_is_dirty(&su) && !segusage_is_error(&su) &&
		   !segusage_is_clean(&su),
	   "flags 3: active, dirty");
	su.su_flags = le32_make(4);
	ok(segusage_is_error(&su) && !segusage_is_clean(&su),
	   "flags 4: error, not clean");
	su.su_flags = le32_make(0);
	ok(segusage_is_clean(&su), "no flags: clean");
	ok(checkpoint_is_snapshot(&cp) && checkpoint_is_minor(&cp) &&
		   !checkpoint_is_invalid(&cp),
	   "flags 9: snapshot, minor");
}

static void test_checkpoint(uint32_t flags, uint64_t cno, uint64_t next,
			    uint64_t prev, enum rule rule, const char *name)
{
	struct nilfs_checkpoint cp = { .cp_flags = le32_make(flags) };

	cp.cp_cno = le64_make(cno);
	cp.cp_snapshot_list.ssl_next = le64_make(next);
	cp.cp_snapshot_list.ssl_prev = le64_make(prev);
	is_int(checkpoint_check(&cp, 5), rule, name);
}

static void test_checkpoints(void)
{
	test_checkpoint(1, 5, 0, 0, RULE_OK, "the only snapshot");
	test_checkpoint(1, 5, 6, 4, RULE_OK, "a snapshot between two");
	test_checkpoint(1, 5, 5, 0, RULE_CP_SNAPSHOT_LIST, "its own next");
	test_checkpoint(1, 5, 0, 5, RULE_CP_SNAPSHOT_LIST, "its own previous");
	test_checkpoint(0, 5, 5, 5, RULE_OK, "no snapshot: no list");
	test_checkpoint(2, 0, 0, 0, RULE_OK, "invalid: any number");
}

/* As the kernel creates and deletes it, and mkfs.nilfs2 prepares it. */
static void test_made(void)
{
	struct nilfs_checkpoint cp = { .cp_flags = le32_make(2) };

	ok(!checkpoint_was_made(&cp, 5), "an entry of a new block");
	cp.cp_cno = le64_make(5);
	ok(!checkpoint_was_made(&cp, 5), "one with its number only");
	cp.cp_create = le64_make(1700000000);
	ok(checkpoint_was_made(&cp, 5), "a deleted checkpoint");
	cp.cp_flags = le32_make(0);
	ok(checkpoint_was_made(&cp, 5), "a checkpoint");
	ok(!checkpoint_was_made(&cp, 6), "at another place");
}

/* A block that the kernel made again, for checkpoint 24: 21 to 23 were deleted. */
static void test_first_made(void)
{
	const struct nilfs_geometry g = geometry(4096, 192, 16);
	char block[4096] = { 0 };
	struct nilfs_checkpoint *cp;
	uint64_t cno;

	for (cno = 21; cno < 42; cno++) {
		cp = (void *)(block + checkpoint_offset(&g, cno));
		cp->cp_flags = le32_make(2);
	}
	is_int(checkpoint_first_made(&g, 1, block), 21, "no entry was made");
	cp = (void *)(block + checkpoint_offset(&g, 24));
	cp->cp_cno = le64_make(24);
	cp->cp_create = le64_make(1700000000);
	is_int(checkpoint_first_made(&g, 1, block), 24, "the first one made");
	is_int(checkpoint_first_made(&g, 0, block), 1,
	       "the first block is never removed");
	cp = (void *)(block + checkpoint_offset(&g, 22));
	cp->cp_flags = le32_make(0);
	is_int(checkpoint_first_made(&g, 1, block), 21,
	       "zeros are no entries of a new block");
}

static void test_dat_entry(uint64_t blocknr, uint64_t start, uint64_t end,
			   enum rule rule, const char *name)
{
	struct nilfs_geometry g = geometry(4096, 192, 16);
	struct nilfs_dat_entry de;

	g.first_data_block = 1;
	de.de_blocknr = le64_make(blocknr);
	de.de_start = le64_make(start);
	de.de_end = le64_make(end);
	is_int(dat_check(&g, &de, 7), rule, name);
}

static void test_dat_entries(void)
{
	test_dat_entry(1, 3, 3, RULE_OK, "never visible");
	test_dat_entry(0, 1, UINT64_MAX, RULE_OK, "not written yet");
	test_dat_entry(255999, 7, 7, RULE_OK, "the last block");
	test_dat_entry(256000, 7, 7, RULE_DAT_BLOCKNR, "after it");
}

static void test_lifetimes(void)
{
	struct nilfs_dat_entry de = { .de_start = le64_make(3),
				      .de_end = le64_make(5) };

	ok(!dat_is_in(&de, 2) && dat_is_in(&de, 3) && dat_is_in(&de, 4) &&
		   !dat_is_in(&de, 5),
	   "alive in [3, 5)");
	ok(!dat_is_current(&de), "dead now");
	de.de_end = le64_make(3);
	ok(!dat_is_in(&de, 3), "never seen in [3, 3)");
	de.de_end = le64_make(UINT64_MAX);
	ok(dat_is_current(&de) && dat_is_in(&de, UINT64_MAX - 1),
	   "current without end");
	ok(dat_is_unwritten(&de), "no block yet");
}

/* SUFILE is its first block, of 4096 bytes. */
static void test_garbage(const struct nilfs_geometry *g, const void *sufile)
{
	uint32_t at = segusage_offset(g, 1);
	unsigned char block[4096];

	ok(!segusage_is_garbage(g, 0, sufile), "the block is one of segments");
	memcpy(block, sufile, sizeof(block));
	memset(block + at, 0xff, 3 * sizeof(struct nilfs_segment_usage));
	ok(!segusage_is_garbage(g, 0, block),
	   "with three entries that cannot be, too");
	memset(block + at, 0xff, 4 * sizeof(struct nilfs_segment_usage));
	ok(segusage_is_garbage(g, 0, block), "but not with four");
}

/* The tables as mkfs.nilfs2 fills them; it uses the first segment only. */
static void test_foreign(void)
{
	unsigned char *image = disk_image("-b 4096 -B 256", 64 << 20);
	const struct nilfs_sufile_header *sh;
	const struct nilfs_segment_usage *su;
	const struct nilfs_cpfile_header *ch;
	const struct nilfs_checkpoint *cp;
	struct nilfs_geometry g;

	if (!image) {
		ok(true, "# SKIP no %s", DISK_IMAGE_MKFS);
		return;
	}
	super_geometry((void *)(image + 1024), 64 << 20, &g);
	ch = (void *)(image + 6 * 4096);
	cp = (void *)(image + 6 * 4096 + checkpoint_offset(&g, 1));
	sh = (void *)(image + 7 * 4096);
	su = (void *)(image + 7 * 4096 + segusage_offset(&g, 0));
	is_int(le64_get(ch->ch_ncheckpoints), 1, "one checkpoint");
	is_int(checkpoint_check(cp, 1), RULE_OK, "checkpoint 1");
	is_int(le64_get(sh->sh_ncleansegs), 61, "61 of 63 segments are clean");
	is_int(segusage_check(&g, su), RULE_OK, "segment 0");
	is_int(le32_get(su->su_nblocks), 11, "has 11 blocks");
	su = (void *)(image + 7 * 4096 + segusage_offset(&g, 1));
	ok(segusage_is_dirty(su) && !le32_get(su->su_nblocks),
	   "segment 1 is taken, still empty");
	su = (void *)(image + 7 * 4096 + segusage_offset(&g, 2));
	ok(segusage_is_clean(su), "segment 2 is clean");
	test_garbage(&g, image + 7 * 4096);
	munmap(image, 64 << 20);
}

int main(void)
{
	test_checkpoint_places();
	test_usage_places(16, 2);
	test_usage_places(24, 1);
	test_usage_places(32, 1);
	test_usage_places(40, 1);
	test_usage_places(256, 1);
	test_flags();
	test_checkpoints();
	test_made();
	test_first_made();
	test_dat_entries();
	test_lifetimes();
	test_foreign();
	return tap_done();
}
