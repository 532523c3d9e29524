// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The superblock of a new volume.
 *
 * It names the last log, which has the newest checkpoint, and is marked clean.  The
 * fields that the kernel never looks at have the values that nilfs-utils
 * gives them.
 */
#include "mkfs/newsuper.h"

#include <string.h>

#include "disk/super.h"

#define CHECK_INTERVAL (180u * 24 * 60 * 60)

static void fill_layout(const struct plan *plan, struct nilfs_super_block *sb)
{
	const struct nilfs_geometry *g = &plan->g;

	sb->s_log_block_size = le32_make(g->block_bits - NILFS_MIN_BLOCK_BITS);
	sb->s_nsegments = le64_make(g->nsegments);
	sb->s_dev_size = le64_make(plan->size);
	sb->s_first_data_block = le64_make(g->first_data_block);
	sb->s_blocks_per_segment = le32_make(g->blocks_per_segment);
	sb->s_r_segments_percentage = le32_make(plan->reserved);
	sb->s_first_ino = le32_make(g->first_ino);
	sb->s_inode_size = le16_make((uint16_t)g->inode_size);
	sb->s_dat_entry_size = le16_make((uint16_t)g->dat_entry_size);
	sb->s_checkpoint_size = le16_make((uint16_t)g->checkpoint_size);
	sb->s_segment_usage_size = le16_make((uint16_t)g->segment_usage_size);
	sb->s_feature_compat = le64_make(plan->features.compat);
	sb->s_feature_compat_ro = le64_make(plan->features.compat_ro);
	sb->s_feature_incompat = le64_make(plan->features.incompat);
}

static void fill_state(const struct plan *plan, const struct writer_end *end,
		       struct nilfs_super_block *sb)
{
	uint64_t bps = plan->g.blocks_per_segment;

	sb->s_last_cno = le64_make(end->cno);
	sb->s_last_pseg = le64_make(end->pseg);
	sb->s_last_seq = le64_make(end->seq);
	sb->s_free_blocks_count = le64_make(end->clean_segments * bps);
	sb->s_ctime = le64_make(plan->ctime);
	sb->s_wtime = le64_make(plan->ctime);
	sb->s_lastcheck = le64_make(plan->ctime);
	sb->s_max_mnt_count = le16_make(NILFS_DFL_MAX_MNT_COUNT);
	sb->s_state = le16_make(NILFS_VALID_FS);
	sb->s_errors = le16_make(NILFS_ERRORS_CONTINUE);
	sb->s_checkinterval = le32_make(CHECK_INTERVAL);
	sb->s_creator_os = le32_make(NILFS_OS_LINUX);
}

void newsuper_fill(const struct plan *plan, const struct writer_end *end,
		   struct nilfs_super_block *sb)
{
	memset(sb, 0, sizeof(*sb));
	sb->s_rev_level = le32_make(NILFS_CURRENT_REV);
	sb->s_minor_rev_level = le16_make(NILFS_MINOR_REV);
	sb->s_magic = le16_make(NILFS_SUPER_MAGIC);
	sb->s_bytes = le16_make(NILFS_SB_BYTES);
	sb->s_crc_seed = le32_make(plan->g.crc_seed);
	fill_layout(plan, sb);
	fill_state(plan, end, sb);
	memcpy(sb->s_uuid, plan->uuid, sizeof(sb->s_uuid));
	memcpy(sb->s_volume_name, plan->label, sizeof(sb->s_volume_name));
	sb->s_sum = le32_make(super_checksum(sb));
}
