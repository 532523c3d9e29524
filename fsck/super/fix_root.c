// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The way to the super root is lost, or the super root itself.
 *
 * All of the device is searched, also where the other superblock still leads to
 * some super root: what the chain of logs from there does not reach may be
 * newer.
 */
#include "disk/super.h"
#include "fsck/plan/fixers.h"
#include "fsck/super/restore.h"

int fix_log(struct fixer_job *job, struct context *cx, const struct fix *fixes,
	    size_t n)
{
	bool place = false, fields = false;
	size_t i;

	(void)cx;
	for (i = 0; i < n; i++) {
		place |= fixes[i].rule == RULE_ZONE_LAST_LOG;
		fields |= fixes[i].rule != RULE_ZONE_LAST_LOG;
	}
	if (place)
		fixers_tell(job, "latest log: one more begins an empty zone");
	if (fields)
		fixers_tell(job, "super root: rewritten");
	return 0;
}

/* Verdicts with which segments can be found, and are all there. */
static bool is_placeable(enum rule rule)
{
	return rule == RULE_OK || (rule_has(rule, RULE_READABLE) &&
				   rule != RULE_SB_DEVICE_SIZE);
}

/* The active superblock: 1, 0 where there is none. */
static int find_super(struct fixer_job *job, struct context *cx,
		      struct nilfs_super_block *sb)
{
	const uint64_t offset[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(job->dev->size)
	};
	struct nilfs_super_block copy[2];
	struct super_choice choice;
	struct nilfs_geometry geo;
	bool read[2];
	int i;

	for (i = 0; i < 2; i++) {
		read[i] = offset[i] && !dev_read(job->dev, cx, offset[i],
						 &copy[i], sizeof(copy[i]));
		fail_clear(cx);
	}
	super_choose(read[0] ? &copy[0] : NULL, read[1] ? &copy[1] : NULL,
		     job->dev->size, &choice);
	if (choice.index < 0)
		return 0;
	*sb = copy[choice.index];
	return is_placeable(super_geometry(sb, job->dev->size, &geo)) &&
	       super_check_features(sb) != RULE_SB_FEATURE_INCOMPAT;
}

int fix_root(struct fixer_job *job, struct context *cx,
	     const struct fix *fixes, size_t n)
{
	struct nilfs_super_block sb;
	int ret;

	(void)fixes;
	(void)n;
	ret = find_super(job, cx, &sb);
	if (ret > 0)
		ret = restore_root(job, cx, &sb);
	return ret < 0 ? ret : 0;
}
