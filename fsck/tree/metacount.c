// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * i_blocks of the metadata files.
 *
 * The kernel counts in sectors, by what comes and goes, and reads the number
 * for nothing else.  It goes on from what mkfs.nilfs2 of nilfs-utils wrote,
 * which counted each of its few blocks as 1: such a file stays behind by a
 * block less one sector for each of these.
 */
#include "fsck/tree/metacount.h"

#include "base/checked.h"

#define SECTOR 512

/* Blocks that a mkfs makes of one file: descriptors, a bitmap, and entries up
   to the first one for users. */
static uint64_t made_first(const struct nilfs_geometry *geo)
{
	return 2 + div_round_up((NILFS_USER_INO + 1) * geo->inode_size,
				geo->block_size);
}

static bool has_one(const struct check *c, const enum rule *rules, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (findings_count(c->findings, rules[i]))
			return true;
	return false;
}

bool metacount_is_doubtful(const struct check *c)
{
	static const enum rule rules[] = {
		RULE_PALLOC_DESC_MISSING, RULE_PALLOC_BITMAP_MISSING,
		RULE_PALLOC_ENTRY_MISSING, RULE_PALLOC_BLOCK,
	};

	return has_one(c, rules, sizeof(rules) / sizeof(rules[0]));
}

/* What a block of cpfile or SUFILE that is missing is told as. */
static bool has_gaps(const struct check *c)
{
	static const enum rule rules[] = {
		RULE_CP_HEADER_MISSING, RULE_CP_LATEST, RULE_CP_NCHECKPOINTS,
		RULE_SU_UNREADABLE, RULE_SU_NCLEAN, RULE_SU_ACTIVE_CLEAN,
	};

	return has_one(c, rules, sizeof(rules) / sizeof(rules[0]));
}

void metacount_check(const struct check *c, uint64_t cno, uint64_t ino,
		     const struct nilfs_inode *inode, uint64_t nblocks)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t unit = geo->block_size / SECTOR;
	uint64_t want = nblocks * unit, got = le64_get(inode->i_blocks);
	uint64_t less = want - got;

	if (metacount_is_doubtful(c) || has_gaps(c))
		return;
	if (got <= want && less % (unit - 1) == 0 &&
	    less / (unit - 1) <= made_first(geo))
		return;
	findings_differ(c->findings, RULE_INODE_BLOCKS, place_inode(cno, ino),
			want, got);
}
