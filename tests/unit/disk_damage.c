// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sound superblocks and logs, damaged in one way each.
 *
 * A function makes the bytes, changes what the wanted rule is about, sets the
 * checksums right so that nothing else is wrong, and asks all checks in turn.
 */
#include "disk_damage.h"

#include <string.h>

#include "disk/segsum.h"
#include "disk/super.h"
#include "disk/superroot.h"

#define DEVICE (4096ull * BLOCK)

const struct nilfs_geometry disk_damage_geometry = {
	.block_size = BLOCK, .block_bits = 10, .blocks_per_segment = 1024,
	.inode_size = 128, .dat_entry_size = 32, .checkpoint_size = 192,
	.segment_usage_size = 16, .first_ino = 11, .first_data_block = 4,
	.nsegments = 4, .nblocks = 4096,
};

static void super_make(struct nilfs_super_block *sb)
{
	memset(sb, 0, sizeof(*sb));
	sb->s_rev_level = le32_make(2);
	sb->s_magic = le16_make(0x3434);
	sb->s_bytes = le16_make(280);
	sb->s_nsegments = le64_make(4);
	sb->s_first_data_block = le64_make(4);
	sb->s_blocks_per_segment = le32_make(1024);
	sb->s_r_segments_percentage = le32_make(5);
	sb->s_last_pseg = le64_make(4);
	sb->s_first_ino = le32_make(11);
	sb->s_inode_size = le16_make(128);
	sb->s_dat_entry_size = le16_make(32);
	sb->s_checkpoint_size = le16_make(192);
	sb->s_segment_usage_size = le16_make(16);
}

static void super_damage(struct nilfs_super_block *sb, enum rule rule)
{
	switch (rule) {
	case RULE_SB_MAGIC:
		sb->s_magic = le16_make(0x3435);
		break;
	case RULE_SB_BYTES:
		sb->s_bytes = le16_make(1025);
		break;
	case RULE_SB_REV_LEVEL:
		sb->s_rev_level = le32_make(1);
		break;
	case RULE_SB_BLOCK_SIZE:
		sb->s_log_block_size = le32_make(7);
		break;
	case RULE_SB_INODE_SIZE:
		sb->s_inode_size = le16_make(337);
		break;
	case RULE_SB_FIRST_INO:
		sb->s_first_ino = le32_make(10);
		break;
	case RULE_SB_BLOCKS_PER_SEGMENT:
		sb->s_blocks_per_segment = le32_make(15);
		break;
	case RULE_SB_R_SEGMENTS_PERCENTAGE:
		sb->s_r_segments_percentage = le32_make(100);
		break;
	case RULE_SB_NSEGMENTS:
		sb->s_nsegments = le64_make(UINT64_MAX / 1024);
		break;
	case RULE_SB_DEVICE_SIZE:
		sb->s_nsegments = le64_make(5);
		sb->s_dev_size = le64_make(UINT32_MAX);
		break;
	case RULE_SB_FIRST_DATA_BLOCK:
		sb->s_first_data_block = le64_make(1);
		break;
	case RULE_SB_DAT_ENTRY_SIZE:
		sb->s_dat_entry_size = le16_make(31);
		break;
	case RULE_SB_CHECKPOINT_SIZE:
		sb->s_checkpoint_size = le16_make(191);
		break;
	case RULE_SB_SEGMENT_USAGE_SIZE:
		sb->s_segment_usage_size = le16_make(1025);
		break;
	case RULE_SB_FEATURE_INCOMPAT:
		sb->s_feature_incompat = le64_make(1);
		break;
	case RULE_SB_FEATURE_COMPAT_RO:
		sb->s_feature_compat_ro = le64_make(2);
		break;
	case RULE_SB_LAST_PSEG:
		sb->s_last_pseg = le64_make(3);
		break;
	default:
		break;
	}
}

enum rule disk_damage_super(enum rule want)
{
	struct nilfs_super_block sb;
	struct super_choice choice;
	struct nilfs_geometry g;
	enum rule rule;

	super_make(&sb);
	super_damage(&sb, want);
	sb.s_sum = le32_make(super_checksum(&sb) + (want == RULE_SB_SUM));
	if (want == RULE_SB_UNREADABLE || want == RULE_SB_PLACE) {
		super_choose(&sb, want == RULE_SB_PLACE ? &sb : NULL, DEVICE,
			     &choice);
		return choice.verdict[1];
	}
	rule = super_check(&sb);
	if (!rule)
		rule = super_geometry(
			&sb, want == RULE_SB_DEVICE_SMALL ? 20479 : DEVICE,
			&g);
	if (!rule)
		rule = super_check_features(&sb);
	return rule ? rule : super_check_log(&sb, &disk_damage_geometry);
}

/* A log of four blocks: summary, data, node, super root. */
static void log_make(uint8_t *block)
{
	struct nilfs_segment_summary *ss = (void *)block;
	struct nilfs_finfo *fi = (void *)(block + sizeof(*ss));

	memset(block, 0, BLOCK);
	ss->ss_magic = le32_make(NILFS_SEGSUM_MAGIC);
	ss->ss_bytes = le16_make(sizeof(*ss));
	ss->ss_flags = le16_make(NILFS_SS_SR);
	ss->ss_seq = le64_make(9);
	ss->ss_next = le64_make(2048);
	ss->ss_nblocks = le32_make(4);
	ss->ss_nfinfo = le32_make(1);
	ss->ss_sumbytes = le32_make(sizeof(*ss) + sizeof(*fi) + 16 + 8);
	fi->fi_ino = le64_make(12);
	fi->fi_nblocks = le32_make(2);
	fi->fi_ndatablk = le32_make(1);
}

static void log_damage(uint8_t *block, enum rule rule)
{
	struct nilfs_segment_summary *ss = (void *)block;
	struct nilfs_finfo *fi = (void *)(block + sizeof(*ss));

	switch (rule) {
	case RULE_LOG_MAGIC:
		ss->ss_magic = le32_make(0);
		break;
	case RULE_LOG_SEQ:
		ss->ss_seq = le64_make(8);
		break;
	case RULE_LOG_NBLOCKS:
		ss->ss_nblocks = le32_make(1025);
		break;
	case RULE_LOG_SEGMENT:
		ss->ss_nblocks = le32_make(1021);
		break;
	case RULE_LOG_BYTES:
		ss->ss_bytes = le16_make(55);
		break;
	case RULE_LOG_SUMBYTES:
		ss->ss_sumbytes = le32_make(4 * BLOCK);
		break;
	case RULE_LOG_NFINFO:
		ss->ss_nfinfo = le32_make(3);
		break;
	case RULE_LOG_FLAGS:
		ss->ss_flags = le16_make(NILFS_SS_SR | 0x20);
		break;
	case RULE_LOG_NEXT:
		ss->ss_next = le64_make(2049);
		break;
	case RULE_LOG_FINFO:
		fi->fi_ndatablk = le32_make(3);
		break;
	case RULE_LOG_TRUNCATED:
		fi->fi_ndatablk = le32_make(2);
		break;
	case RULE_LOG_PAYLOAD:
		ss->ss_nblocks = le32_make(5);
		break;
	case RULE_LOG_SUMBYTES_UNUSED:
		fi->fi_ndatablk = le32_make(0);
		break;
	default:
		break;
	}
}

static enum rule log_sums(uint8_t log[4 * BLOCK], enum rule want)
{
	struct nilfs_segment_summary *ss = (void *)log;
	struct segsum_crc sum, data;

	memset(log + BLOCK, 1, 3 * BLOCK);
	segsum_crc_init(&sum, SEGSUM_SUMSUM, &disk_damage_geometry, ss);
	segsum_crc_update(&sum, log, 4 * BLOCK);
	ss->ss_sumsum = le32_make(sum.sum ^ (want == RULE_LOG_SUMSUM));
	segsum_crc_init(&data, SEGSUM_DATASUM, &disk_damage_geometry, ss);
	segsum_crc_update(&data, log, 4 * BLOCK);
	ss->ss_datasum = le32_make(data.sum ^ (want == RULE_LOG_DATASUM));
	return segsum_crc_check(&sum, ss) ?: segsum_crc_check(&data, ss);
}

enum rule disk_damage_log(enum rule want)
{
	uint8_t log[4 * BLOCK];
	struct nilfs_segment_summary *ss = (void *)log;
	struct segsum_block b;
	struct segsum_iter it;
	enum rule rule;

	log_make(log);
	log_damage(log, want);
	rule = segsum_check_kernel(&disk_damage_geometry, ss, 4, 9);
	if (!rule)
		rule = segsum_check(&disk_damage_geometry, ss, 4);
	if (!rule)
		rule = segsum_check_links(&disk_damage_geometry, ss);
	if (rule)
		return rule;
	segsum_iter_init(&it, &disk_damage_geometry, log, BLOCK);
	while (segsum_iter_next(&it, &b))
		;
	return it.verdict ? it.verdict : log_sums(log, want);
}

enum rule disk_damage_superroot(enum rule want)
{
	uint8_t block[BLOCK] = { 0 };
	struct nilfs_super_root *sr = (void *)block;

	sr->sr_bytes = le16_make(want == RULE_SR_BYTES ? 399 : 400);
	sr->sr_sum = le32_make(superroot_checksum(&disk_damage_geometry, block) ^
			       (want == RULE_SR_SUM));
	return superroot_check(&disk_damage_geometry, block);
}
