// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The DAT entry.
 *
 * The lifetime of a block is from its first checkpoint up to, not including, its
 * last.  If both are equal, the block was never visible in any checkpoint; old
 * blocks of the cpfile and SUFILE have such entries.  Two entries for one block, or
 * a block in a clean segment, cannot be detected here.
 */
#include "disk/dat.h"

enum rule dat_check(const struct nilfs_geometry *g,
		    const struct nilfs_dat_entry *de, uint64_t cno)
{
	uint64_t blocknr = le64_get(de->de_blocknr);
	uint64_t start = le64_get(de->de_start);
	uint64_t end = le64_get(de->de_end);

	if (start > end)
		return RULE_DAT_LIFETIME;
	if (start > cno)
		return RULE_DAT_START;
	if (end > cno && end != NILFS_CNO_MAX)
		return RULE_DAT_END;
	if (blocknr && !geometry_has_block(g, blocknr))
		return RULE_DAT_BLOCKNR;
	return RULE_OK;
}
