/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checkpoint file: its header and its entries. */
#ifndef NILFS2_DISK_CHECKPOINT_H
#define NILFS2_DISK_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* Block (offset in the file) of checkpoint CNO (> 0), and its offset in that block. */
uint64_t checkpoint_blkoff(const struct nilfs_geometry *g, uint64_t cno);
uint32_t checkpoint_offset(const struct nilfs_geometry *g, uint64_t cno);

/* The entry of checkpoint CNO in BLOCK, which has it. */
static inline const struct nilfs_checkpoint *
checkpoint_at(const struct nilfs_geometry *g, const void *block, uint64_t cno)
{
	return (const void *)((const char *)block + checkpoint_offset(g, cno));
}

/* Number of the first checkpoint in block BLKOFF, and the number of checkpoints there. */
uint64_t checkpoint_first(const struct nilfs_geometry *g, uint64_t blkoff);
uint32_t checkpoint_count(const struct nilfs_geometry *g, uint64_t blkoff);

/* checkpoint_is_snapshot(cp), checkpoint_is_invalid(cp), checkpoint_is_minor(cp) */
#define CHECKPOINT_IS(name, flag)						\
	static inline bool checkpoint_is_##name(const struct nilfs_checkpoint *cp) \
	{									\
		return le32_get(cp->cp_flags) & 1u << NILFS_CHECKPOINT_##flag;	\
	}
CHECKPOINT_IS(snapshot, SNAPSHOT)
CHECKPOINT_IS(invalid, INVALID)
CHECKPOINT_IS(minor, MINOR)

/* cp_create of an entry that a repair could not restore. */
#define CHECKPOINT_LOST 1

/*
 * True if CP is the entry of checkpoint CNO, valid or deleted.  An entry that was
 * not made yet is invalid and has no time, and has a number in the first block only
 * (mkfs.nilfs2).
 */
bool checkpoint_was_made(const struct nilfs_checkpoint *cp, uint64_t cno);

/*
 * The first checkpoint that was made since BLOCK, the content of block BLKOFF, is
 * there; checkpoint_first() if that is not known.  The kernel removes a block, but for
 * the first one, with the last valid checkpoint in it; if the next checkpoint is one
 * of that block it makes a new one, without entries of those that it had.
 */
uint64_t checkpoint_first_made(const struct nilfs_geometry *g, uint64_t blkoff,
			       const void *block);

/*
 * Checks the entry at the place of checkpoint CNO; in an invalid one only the
 * flags mean anything.  The kernel checks CNO alone, and only for mounting.
 */
enum rule checkpoint_check(const struct nilfs_checkpoint *cp, uint64_t cno);

/* Whether two versions of an entry record the same state of files. */
bool checkpoint_is_same(const struct nilfs_checkpoint *a,
			const struct nilfs_checkpoint *b);

#endif
