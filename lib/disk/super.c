// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The superblock.
 *
 * There are two copies, written alternately, so they normally differ and the newer
 * one is used.  Validity (a checksum) and plausibility (a layout that the device can
 * hold) are separate checks, because the kernel chooses by validity only.  The
 * numbers are checked once and copied to the geometry; the rest of the library
 * relies on that.
 *
 * Three words contain feature bits.  Unknown bits of the first word are ignored, those of
 * the second forbid writing, those of the third reading.  The two live-block features are
 * a published extension outside the mainline kernel; its first edition had another name
 * for one of them.
 */
#include "disk/super.h"

#include <string.h>

#include "base/checked.h"
#include "base/crc.h"

#define SUM_OFFSET offsetof(struct nilfs_super_block, s_sum)
#define SUM_END (SUM_OFFSET + sizeof(le32))

const char *const super_reasons[] = {
	[SUPER_NEITHER] = "neither superblock is valid",
	[SUPER_FIRST_ALONE] = "the second superblock is not valid",
	[SUPER_SECOND_ALONE] = "the first superblock is not valid",
	[SUPER_FIRST_NEWER] = "the first superblock is newer",
	[SUPER_SECOND_NEWER] = "the second superblock is newer",
	[SUPER_SAME] = "both superblocks name the same checkpoint",
	[SUPER_SECOND_MISPLACED] =
		"the second superblock lies inside the segments",
	[SUPER_NEITHER_MISPLACED] = "the first superblock is not valid, "
				    "the second lies inside the segments",
};

uint32_t super_checksum(const struct nilfs_super_block *sb)
{
	const uint8_t *p = (const uint8_t *)sb;
	size_t bytes = le16_get(sb->s_bytes);
	uint32_t crc;

	if (bytes < SUM_END)
		bytes = SUM_END;
	if (bytes > sizeof(*sb))
		bytes = sizeof(*sb);
	crc = crc32_le(le32_get(sb->s_crc_seed), p, SUM_OFFSET);
	crc = crc32_le_zeros(crc, sizeof(sb->s_sum));
	return crc32_le(crc, p + SUM_END, bytes - SUM_END);
}

enum rule super_check(const struct nilfs_super_block *sb)
{
	size_t bytes = le16_get(sb->s_bytes);

	if (le16_get(sb->s_magic) != NILFS_SUPER_MAGIC)
		return RULE_SB_MAGIC;
	if (bytes < SUM_END || bytes > sizeof(*sb))
		return RULE_SB_BYTES;
	if (super_checksum(sb) != le32_get(sb->s_sum))
		return RULE_SB_SUM;
	return RULE_OK;
}

static bool size_fits(uint32_t size, uint32_t least, uint32_t block_size)
{
	return size >= least && size <= block_size;
}

void super_set_geometry(struct nilfs_super_block *sb, uint64_t dev_size,
			const struct nilfs_geometry *g)
{
	sb->s_rev_level = le32_make(NILFS_CURRENT_REV);
	sb->s_minor_rev_level = le16_make(NILFS_MINOR_REV);
	sb->s_magic = le16_make(NILFS_SUPER_MAGIC);
	sb->s_bytes = le16_make(NILFS_SB_BYTES);
	sb->s_crc_seed = le32_make(g->crc_seed);
	sb->s_log_block_size = le32_make(g->block_bits - NILFS_MIN_BLOCK_BITS);
	sb->s_nsegments = le64_make(g->nsegments);
	sb->s_dev_size = le64_make(dev_size);
	sb->s_first_data_block = le64_make(g->first_data_block);
	sb->s_blocks_per_segment = le32_make(g->blocks_per_segment);
	sb->s_first_ino = le32_make(g->first_ino);
	sb->s_inode_size = le16_make((uint16_t)g->inode_size);
	sb->s_dat_entry_size = le16_make((uint16_t)g->dat_entry_size);
	sb->s_checkpoint_size = le16_make((uint16_t)g->checkpoint_size);
	sb->s_segment_usage_size = le16_make((uint16_t)g->segment_usage_size);
}

enum rule super_geometry(const struct nilfs_super_block *sb, uint64_t dev_size,
			 struct nilfs_geometry *g)
{
	uint32_t log_size = le32_get(sb->s_log_block_size);
	uint32_t inode_size = le16_get(sb->s_inode_size);
	uint32_t bps = le32_get(sb->s_blocks_per_segment);
	uint64_t nsegments = le64_get(sb->s_nsegments);
	uint64_t first = le64_get(sb->s_first_data_block);
	uint64_t made_for = le64_get(sb->s_dev_size);
	uint32_t percentage = le32_get(sb->s_r_segments_percentage);
	uint64_t compat = le64_get(sb->s_feature_compat);
	unsigned int block_bits = NILFS_MIN_BLOCK_BITS + log_size;
	uint64_t nblocks, bytes;
	uint32_t block_size;

	if (dev_size < SUPER_MIN_DEVICE)
		return RULE_SB_DEVICE_SMALL;

	/* Values without which nothing can be located. */
	if (le32_get(sb->s_rev_level) < NILFS_MIN_SUPP_REV)
		return RULE_SB_REV_LEVEL;
	if (log_size > NILFS_MAX_BLOCK_BITS - NILFS_MIN_BLOCK_BITS)
		return RULE_SB_BLOCK_SIZE;
	block_size = 1u << block_bits;
	if (!size_fits(inode_size, NILFS_MIN_INODE_SIZE, block_size) ||
	    offsetof(struct nilfs_super_root, sr_dat) + 3ull * inode_size >
		    block_size)
		return RULE_SB_INODE_SIZE;
	if (bps < NILFS_SEG_MIN_BLOCKS)
		return RULE_SB_BLOCKS_PER_SEGMENT;
	if (!nsegments || !checked_mul(nsegments, bps, &nblocks) ||
	    !checked_mul(nblocks, block_size, &bytes))
		return RULE_SB_NSEGMENTS;

	/* Sizes of table entries, and the start of segment 0. */
	if (!size_fits(le16_get(sb->s_dat_entry_size), NILFS_MIN_DAT_ENTRY_SIZE,
		       block_size))
		return RULE_SB_DAT_ENTRY_SIZE;
	if (!size_fits(le16_get(sb->s_checkpoint_size),
		       NILFS_MIN_CHECKPOINT_SIZE, block_size))
		return RULE_SB_CHECKPOINT_SIZE;
	if (!size_fits(le16_get(sb->s_segment_usage_size),
		       NILFS_MIN_SEGMENT_USAGE_SIZE, block_size))
		return RULE_SB_SEGMENT_USAGE_SIZE;
	if (first > bps - NILFS_PSEG_MIN_BLOCKS ||
	    first * block_size <
		    NILFS_SB_OFFSET_BYTES + sizeof(struct nilfs_super_block))
		return RULE_SB_FIRST_DATA_BLOCK;

	/* The segments fit the device, or its size at the time of formatting. */
	if (nblocks > (made_for > dev_size ? made_for : dev_size) >> block_bits)
		return RULE_SB_NSEGMENTS;

	memset(g, 0, sizeof(*g));
	g->block_bits = block_bits;
	g->block_size = block_size;
	g->blocks_per_segment = bps;
	g->inode_size = inode_size;
	g->dat_entry_size = le16_get(sb->s_dat_entry_size);
	g->checkpoint_size = le16_get(sb->s_checkpoint_size);
	g->segment_usage_size = le16_get(sb->s_segment_usage_size);
	g->crc_seed = le32_get(sb->s_crc_seed);
	g->first_ino = le32_get(sb->s_first_ino);
	g->first_data_block = first;
	g->nsegments = nsegments;
	g->nblocks = dev_size >> block_bits;
	g->has_live_blks =
		(compat & NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT) &&
		g->segment_usage_size >= NILFS_EXT_SEGMENT_USAGE_SIZE;

	/* Values that the kernel refuses although the volume can be read. */
	if (g->nblocks < nblocks)
		return RULE_SB_DEVICE_SIZE;
	if (g->first_ino < NILFS_USER_INO)
		return RULE_SB_FIRST_INO;
	if (percentage < 1 || percentage > 99)
		return RULE_SB_R_SEGMENTS_PERCENTAGE;
	return RULE_OK;
}

enum rule super_check_features(const struct nilfs_super_block *sb)
{
	if (le64_get(sb->s_feature_incompat) & ~NILFS_FEATURE_INCOMPAT_SUPP)
		return RULE_SB_FEATURE_INCOMPAT;
	if (le64_get(sb->s_feature_compat_ro) & ~NILFS_FEATURE_COMPAT_RO_SUPP)
		return RULE_SB_FEATURE_COMPAT_RO;
	return RULE_OK;
}

enum rule super_check_log(const struct nilfs_super_block *sb,
			  const struct nilfs_geometry *g)
{
	if (!geometry_has_block(g, le64_get(sb->s_last_pseg)))
		return RULE_SB_LAST_PSEG;
	return RULE_OK;
}

uint64_t super_offset2(uint64_t dev_size)
{
	if (dev_size < SUPER_MIN_DEVICE)
		return 0;
	return ((dev_size >> 12) - 1) << 12;
}

bool super_bad_offset2(const struct nilfs_super_block *sb, uint64_t offset)
{
	uint32_t log_size = le32_get(sb->s_log_block_size);
	uint32_t bps = le32_get(sb->s_blocks_per_segment);

	if (bps < NILFS_SEG_MIN_BLOCKS ||
	    log_size > NILFS_MAX_BLOCK_BITS - NILFS_MIN_BLOCK_BITS)
		return true;
	return (offset >> (NILFS_MIN_BLOCK_BITS + log_size)) / bps <
	       le64_get(sb->s_nsegments);
}

void super_choose(const struct nilfs_super_block *first,
		  const struct nilfs_super_block *second, uint64_t dev_size,
		  struct super_choice *choice)
{
	enum rule *verdict = choice->verdict;
	uint64_t cno[2];
	bool swap;

	verdict[0] = first ? super_check(first) : RULE_SB_UNREADABLE;
	verdict[1] = second ? super_check(second) : RULE_SB_UNREADABLE;
	choice->index = -1;
	choice->spare = -1;
	if (verdict[0] && verdict[1]) {
		choice->reason = SUPER_NEITHER;
		return;
	}
	if (verdict[0] || verdict[1]) {
		swap = verdict[0];
		choice->reason = swap ? SUPER_SECOND_ALONE : SUPER_FIRST_ALONE;
	} else {
		cno[0] = le64_get(first->s_last_cno);
		cno[1] = le64_get(second->s_last_cno);
		swap = cno[0] < cno[1];
		choice->reason = swap ? SUPER_SECOND_NEWER :
				 cno[0] > cno[1] ? SUPER_FIRST_NEWER :
						   SUPER_SAME;
	}
	if (super_bad_offset2(swap ? second : first, super_offset2(dev_size))) {
		if (!verdict[1])
			verdict[1] = RULE_SB_PLACE;
		choice->reason = SUPER_NEITHER_MISPLACED;
		if (verdict[0])
			return;
		choice->reason = SUPER_SECOND_MISPLACED;
		swap = false;
	}
	choice->index = swap;
	if (!verdict[!swap])
		choice->spare = !swap;
}

const struct super_feature super_features[] = {
	{ "sufile_live_blks_ext", "sufile_ext", SUPER_COMPAT,
	  NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT },
	{ "track_live_blks", NULL, SUPER_COMPAT,
	  NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS },
	{ "block_count", NULL, SUPER_COMPAT_RO,
	  NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT },
	{ .name = NULL },
};

const char *super_feature_name(size_t i)
{
	return super_features[i].name;
}

const struct super_feature *super_feature_find(const char *name)
{
	const struct super_feature *f;

	for (f = super_features; f->name; f++) {
		if (!strcmp(f->name, name) ||
		    (f->alias && !strcmp(f->alias, name)))
			return f;
	}
	return NULL;
}
