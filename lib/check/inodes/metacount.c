// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * i_blocks of the metadata files.
 *
 * The kernel counts in sectors, by what comes and goes, and reads the number
 * for nothing else.  It goes on from what mkfs.nilfs2 of nilfs-utils wrote,
 * which counted each of its few blocks as 1: such a file stays after by a
 * block less one sector for each of these.
 */
#include "check/inodes/metacount.h"

#include "base/checked.h"
#include "vol/volume.h"

#define SECTOR 512

/* Blocks that a mkfs makes of one file: descriptors, a bitmap, and entries up
   to the first one for users. */
static uint64_t made_first(const struct nilfs_geometry *geo)
{
	return 2 + div_round_up((NILFS_USER_INO + 1ull) * geo->inode_size,
				geo->block_size);
}

bool metacount_is_doubtful(const struct check *c)
{
	return findings_have(c->findings, RULE_HIDES_GROUPS);
}

void metacount_check(const struct check *c, uint64_t cno, uint64_t ino,
		     const struct nilfs_inode *inode, uint64_t nblocks)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t unit = geo->block_size / SECTOR;
	uint64_t want = nblocks * unit, got = le64_get(inode->i_blocks);
	uint64_t less = want - got;

	if (findings_have(c->findings, RULE_HIDES_GROUPS | RULE_HIDES_BLOCKS))
		return;
	if (got <= want && less % (unit - 1) == 0 &&
	    less / (unit - 1) <= made_first(geo))
		return;
	findings_differ(c->findings, RULE_INODE_BLOCKS, place_inode(cno, ino),
			want, got);
}
