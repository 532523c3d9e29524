/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The entry of a virtual block: its place and its lifetime in checkpoints.
 *
 * The lifetime is from the first checkpoint of the block up to, not including, its
 * last.  If both are equal, the block was never visible in any checkpoint; old blocks
 * of the cpfile and SUFILE have such entries.
 */
#ifndef NILFS2_DISK_DAT_H
#define NILFS2_DISK_DAT_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* True if the block is part of the latest state: it has no end. */
static inline bool dat_is_current(const struct nilfs_dat_entry *de)
{
	return le64_get(de->de_end) == NILFS_CNO_MAX;
}

/* True if the block is in checkpoint CNO: de_start <= CNO < de_end. */
static inline bool dat_is_in(const struct nilfs_dat_entry *de, uint64_t cno)
{
	return le64_get(de->de_start) <= cno && cno < le64_get(de->de_end);
}

/* True if the block got a number but was never written. */
static inline bool dat_is_unwritten(const struct nilfs_dat_entry *de)
{
	return !le64_get(de->de_blocknr);
}

/*
 * Checks an entry in use, as of the latest checkpoint CNO.  The kernel warns about
 * some of this at the end of a block's lifetime: nilfs_dat_commit_end().  Two entries
 * for one block, or a block in a clean segment, cannot be detected here.
 */
static inline enum rule dat_check(const struct nilfs_geometry *g,
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

#endif
