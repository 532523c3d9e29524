// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The superblock of a new volume.
 *
 * It names the last log, with the newest checkpoint, and is marked clean.  The
 * fields that the kernel never uses have the values of nilfs-utils.
 */
#include "mkfs/newsuper.h"

#include <string.h>

#include "disk/super.h"
#include "log/newsupers.h"

#define CHECK_INTERVAL (180u * 24 * 60 * 60)

static void fill_plan(const struct plan *plan, struct nilfs_super_block *sb)
{
	sb->s_r_segments_percentage = le32_make(plan->reserved);
	sb->s_feature_compat = le64_make(plan->features.compat);
	sb->s_feature_compat_ro = le64_make(plan->features.compat_ro);
	sb->s_feature_incompat = le64_make(plan->features.incompat);
	memcpy(sb->s_uuid, plan->uuid, sizeof(sb->s_uuid));
	memcpy(sb->s_volume_name, plan->label, sizeof(sb->s_volume_name));
	sb->s_ctime = le64_make(plan->ctime);
	sb->s_lastcheck = le64_make(plan->ctime);
}

static void fill_defaults(struct nilfs_super_block *sb)
{
	sb->s_max_mnt_count = le16_make(NILFS_DFL_MAX_MNT_COUNT);
	sb->s_errors = le16_make(NILFS_ERRORS_CONTINUE);
	sb->s_checkinterval = le32_make(CHECK_INTERVAL);
	sb->s_creator_os = le32_make(NILFS_OS_LINUX);
}

void newsuper_fill(const struct plan *plan, const struct writer_end *end,
		   struct nilfs_super_block *sb)
{
	memset(sb, 0, sizeof(*sb));
	super_set_geometry(sb, plan->size, &plan->g);
	fill_plan(plan, sb);
	fill_defaults(sb);
	newsupers_fill(sb, &plan->g, end, plan->ctime, NILFS_VALID_FS);
}
