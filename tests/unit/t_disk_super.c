// SPDX-License-Identifier: GPL-2.0-or-later
/* The superblock: of a foreign mkfs, damaged, two copies, features. */
#include "disk/super.h"

#include "disk_image.h"
#include "tap.h"

#define SIZE_64M (64ull << 20)

static void seal(struct nilfs_super_block *sb)
{
	sb->s_sum = le32_make(super_checksum(sb));
}

/* A layout of 64 MiB with nothing wrong. */
static void make(struct nilfs_super_block *sb, uint64_t cno)
{
	memset(sb, 0, sizeof(*sb));
	sb->s_rev_level = le32_make(2);
	sb->s_magic = le16_make(0x3434);
	sb->s_bytes = le16_make(280);
	sb->s_crc_seed = le32_make(0x1234);
	sb->s_log_block_size = le32_make(2);
	sb->s_nsegments = le64_make(63);
	sb->s_first_data_block = le64_make(1);
	sb->s_blocks_per_segment = le32_make(256);
	sb->s_r_segments_percentage = le32_make(5);
	sb->s_last_cno = le64_make(cno);
	sb->s_first_ino = le32_make(11);
	sb->s_inode_size = le16_make(128);
	sb->s_dat_entry_size = le16_make(32);
	sb->s_checkpoint_size = le16_make(192);
	sb->s_segment_usage_size = le16_make(16);
	seal(sb);
}

static void test_flips(struct nilfs_super_block *sb)
{
	uint8_t *bytes = (uint8_t *)sb;
	int i, missed = 0, seen = 0;

	for (i = 0; i < (int)sizeof(*sb); i++) {
		bytes[i] ^= 0x10;
		if (i < le16_get(sb->s_bytes))
			missed += !super_check(sb);
		else
			seen += !!super_check(sb);
		bytes[i] ^= 0x10;
	}
	is_int(missed, 0, "every damaged byte below s_bytes is noticed");
	is_int(seen, 0, "and none above");
}

static void test_foreign(const char *options, size_t len, uint32_t block_size,
			 uint32_t bps)
{
	unsigned char *image = disk_image(options, len);
	struct nilfs_super_block *sb;
	struct nilfs_geometry g;
	struct super_choice c;
	const void *second;

	if (!image) {
		ok(true, "# SKIP no %s, or it takes no %s", DISK_IMAGE_MKFS,
		   options);
		return;
	}
	sb = (struct nilfs_super_block *)(image + 1024);
	second = image + len - 4096;
	is_int(super_offset2(len), len - 4096, "place of the second copy");
	is_int(super_check(sb), RULE_OK, "mkfs.nilfs2 wrote a first copy");
	is_int(super_check(second), RULE_OK, "and a second");
	is_int(super_geometry(sb, len, &g), RULE_OK, "the layout is sound");
	is_int(super_check_features(sb), RULE_OK, "no unknown feature");
	is_int(super_check_log(sb, &g), RULE_OK, "the last log is in place");
	is_int(g.block_size, block_size, "block size");
	is_int(g.blocks_per_segment, bps, "blocks per segment");
	is_int(g.nsegments, (len - 4096) / block_size / bps, "segments");
	is_int(g.nblocks, len / block_size, "blocks of the device");
	is_int(g.has_live_blks, false, "no counts of live blocks");
	super_choose(sb, second, len, &c);
	is_int(c.reason, SUPER_SAME, "both copies say the same");
	is_int(c.index, 0, "the first is used");
	is_int(c.spare, 1, "the second is the spare");
	test_flips(sb);
	munmap(image, len);
}

static void choose(const char *name, const struct nilfs_super_block *first,
		   const struct nilfs_super_block *second, uint64_t size,
		   enum super_reason reason, int index, int spare)
{
	struct super_choice c;

	super_choose(first, second, size, &c);
	ok(c.reason == reason && c.index == index && c.spare == spare,
	   "%s: %s", name, super_reasons[reason]);
}

static void test_choose(void)
{
	struct nilfs_super_block old, new, bad, full;

	make(&old, 3);
	make(&new, 5);
	make(&bad, 7);
	bad.s_sum = le32_make(0);
	choose("copies 3 and 5", &old, &new, SIZE_64M, SUPER_SECOND_NEWER, 1,
	       0);
	choose("copies 5 and 3", &new, &old, SIZE_64M, SUPER_FIRST_NEWER, 0,
	       1);
	choose("twice 3", &old, &old, SIZE_64M, SUPER_SAME, 0, 1);
	choose("bad, 3", &bad, &old, SIZE_64M, SUPER_SECOND_ALONE, 1, -1);
	choose("3, bad", &old, &bad, SIZE_64M, SUPER_FIRST_ALONE, 0, -1);
	choose("3, unreadable", &old, NULL, SIZE_64M, SUPER_FIRST_ALONE, 0,
	       -1);
	choose("bad twice", &bad, &bad, SIZE_64M, SUPER_NEITHER, -1, -1);

	/* 64 segments of 1 MiB fill the device: no room for a second copy. */
	make(&full, 5);
	full.s_nsegments = le64_make(64);
	seal(&full);
	choose("3, full 5", &old, &full, SIZE_64M, SUPER_SECOND_MISPLACED, 0,
	       -1);
	choose("full 5, 3", &full, &old, SIZE_64M, SUPER_SECOND_MISPLACED, 0,
	       -1);
	choose("bad, full 5", &bad, &full, SIZE_64M, SUPER_NEITHER_MISPLACED,
	       -1, -1);
	choose("full, one block more", &full, &full, SIZE_64M + 4096,
	       SUPER_SAME, 0, 1);
}

/* Every block size of the format has a geometry, mountable here or not. */
static void test_block_sizes(void)
{
	struct nilfs_super_block sb;
	struct nilfs_geometry g;
	uint32_t i;

	for (i = 0; i <= 6; i++) {
		make(&sb, 1);
		sb.s_log_block_size = le32_make(i);
		sb.s_first_data_block = le64_make(4);
		sb.s_nsegments = le64_make(2);
		ok(!super_geometry(&sb, SIZE_64M, &g) &&
			   g.block_size == 1024u << i &&
			   g.block_bits == 10 + i,
		   "block size %u", 1024u << i);
	}
	sb.s_log_block_size = le32_make(0xffffffe0);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_SB_BLOCK_SIZE,
	       "an exponent that would shift by more than a word");
}

static void test_bounds(void)
{
	struct nilfs_super_block sb;
	struct nilfs_geometry g;

	make(&sb, 1);
	sb.s_nsegments = le64_make(UINT64_MAX);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_SB_NSEGMENTS,
	       "segments whose blocks overflow");
	make(&sb, 1);
	sb.s_nsegments = le64_make(64);
	sb.s_dev_size = le64_make(SIZE_64M);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_OK,
	       "segments may fill the device");
	memset(&g, 0, sizeof(g));
	is_int(super_geometry(&sb, SIZE_64M - 4096, &g), RULE_SB_DEVICE_SIZE,
	       "but not exceed it");
	is_int(g.nsegments, 64, "a cut device still has a geometry");
	sb.s_dev_size = le64_make(SIZE_64M - 4096);
	is_int(super_geometry(&sb, SIZE_64M - 4096, &g), RULE_SB_NSEGMENTS,
	       "nor where it never was larger");
	sb.s_dev_size = le64_make(SIZE_64M);
	is_int(super_offset2(SUPER_MIN_DEVICE - 1), 0, "device too small");
	is_int(super_offset2(20480 + 100), 16384, "odd bytes do not count");
	sb.s_last_pseg = le64_make(64 * 256 - 1);
	is_int(super_check_log(&sb, &g), RULE_OK, "a log in the last block");
	sb.s_last_pseg = le64_make(64 * 256);
	is_int(super_check_log(&sb, &g), RULE_SB_LAST_PSEG, "and after it");
}

/* The first and last number that passes, and the next one that does not. */
static void test_edges(void)
{
	struct nilfs_super_block sb;
	struct nilfs_geometry g;

	make(&sb, 1);
	sb.s_r_segments_percentage = le32_make(1);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_OK, "1 % in reserve");
	sb.s_r_segments_percentage = le32_make(99);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_OK, "99 %");
	sb.s_r_segments_percentage = le32_make(0);
	is_int(super_geometry(&sb, SIZE_64M, &g),
	       RULE_SB_R_SEGMENTS_PERCENTAGE, "0 %");
	make(&sb, 1);
	sb.s_segment_usage_size = le16_make(4096);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_OK,
	       "an entry may fill a block");
	make(&sb, 1);
	sb.s_first_data_block = le64_make(254);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_OK,
	       "two blocks in segment 0");
	sb.s_first_data_block = le64_make(255);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_SB_FIRST_DATA_BLOCK,
	       "but not one");
	sb.s_first_data_block = le64_make(UINT64_MAX);
	is_int(super_geometry(&sb, SIZE_64M, &g), RULE_SB_FIRST_DATA_BLOCK,
	       "nor fewer");
	make(&sb, 1);
	sb.s_bytes = le16_make(20);
	seal(&sb);
	is_int(super_check(&sb), RULE_OK, "a checksum of 20 bytes");
	sb.s_bytes = le16_make(19);
	seal(&sb);
	is_int(super_check(&sb), RULE_SB_BYTES, "19 end inside the checksum");
}

/* Written back, a layout is what it was read from. */
static void test_set_geometry(void)
{
	struct nilfs_super_block given, made = { 0 };
	struct nilfs_geometry g;

	make(&given, 0);
	given.s_segment_usage_size = le16_make(32);
	given.s_dev_size = le64_make(SIZE_64M);
	super_geometry(&given, SIZE_64M, &g);
	super_set_geometry(&made, SIZE_64M, &g);
	made.s_r_segments_percentage = given.s_r_segments_percentage;
	seal(&given);
	seal(&made);
	ok(!memcmp(&given, &made, sizeof(made)),
	   "a layout gives the superblock that it was read from");
}

static void test_features(void)
{
	const struct super_feature *f;
	struct nilfs_super_block sb;
	struct nilfs_geometry g;

	f = super_feature_find("block_count");
	ok(f && f->set == SUPER_COMPAT_RO && f->bit == 1, "block_count");
	f = super_feature_find("sufile_ext");
	ok(f && !strcmp(f->name, "sufile_live_blks_ext") && f->bit == 1 &&
		   f->set == SUPER_COMPAT,
	   "a feature by its older name");
	ok(!super_feature_find("no_such_thing"), "no feature of that name");

	make(&sb, 1);
	sb.s_feature_compat = le64_make(1);
	super_geometry(&sb, SIZE_64M, &g);
	is_int(g.has_live_blks, false, "the feature alone is not enough");
	sb.s_segment_usage_size = le16_make(32);
	super_geometry(&sb, SIZE_64M, &g);
	is_int(g.has_live_blks, true, "with entries of 32 bytes it is");
}

/* Every byte of a member but first_ino counts, none of those between members. */
static void test_same(void)
{
	struct nilfs_super_block sb;
	struct nilfs_geometry a, b;
	size_t i, differ = 0;

	memset(&a, 0, sizeof(a));
	make(&sb, 1);
	super_geometry(&sb, SIZE_64M, &a);
	memcpy(&b, &a, sizeof(b));
	ok(geometry_is_same(&a, &b), "the same geometry");
	for (i = 0; i < sizeof(b); i++) {
		((unsigned char *)&b)[i] ^= 1;
		differ += !geometry_is_same(&a, &b);
		((unsigned char *)&b)[i] ^= 1;
	}
	is_int(differ, 8 * sizeof(uint32_t) + 3 * sizeof(uint64_t) +
		       sizeof(bool), "another by any number that places something");
}

int main(void)
{
	test_foreign("-b 4096 -B 256", 64 << 20, 4096, 256);
	test_foreign("-b 1024 -B 1024", 64 << 20, 1024, 1024);
	test_choose();
	test_block_sizes();
	test_bounds();
	test_edges();
	test_set_geometry();
	test_features();
	test_same();
	return tap_done();
}
