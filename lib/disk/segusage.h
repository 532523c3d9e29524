/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segment usage file: its header and its entries. */
#ifndef NILFS2_DISK_SEGUSAGE_H
#define NILFS2_DISK_SEGUSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* Block (offset in the file) of segment SEGNUM, and its offset there. */
uint64_t segusage_blkoff(const struct nilfs_geometry *g, uint64_t segnum);
uint32_t segusage_offset(const struct nilfs_geometry *g, uint64_t segnum);

/* Number of the first segment in block BLKOFF, and the number of entries there. */
uint64_t segusage_first(const struct nilfs_geometry *g, uint64_t blkoff);
uint32_t segusage_count(const struct nilfs_geometry *g, uint64_t blkoff);

/* Blocks of a file that describes all segments. */
uint64_t segusage_nblocks(const struct nilfs_geometry *g);

/*
 * segusage_is_clean(su): no flag is set; segusage_is_dirty(su), segusage_is_error(su).
 * The kernel never stores ACTIVE; mkfs does.
 */
#define SEGUSAGE_IS(name, test)							\
	static inline bool segusage_is_##name(const struct nilfs_segment_usage *su) \
	{									\
		return le32_get(su->su_flags) test;				\
	}
SEGUSAGE_IS(clean, == 0)
SEGUSAGE_IS(dirty, & 1u << NILFS_SEGMENT_USAGE_DIRTY)
SEGUSAGE_IS(error, & 1u << NILFS_SEGMENT_USAGE_ERROR)

/* Checks the fields of every entry; the kernel checks none. */
enum rule segusage_check(const struct nilfs_geometry *g,
			 const struct nilfs_segment_usage *su);

/*
 * Whether BLOCK, number BLKOFF of the file, has foreign content: several entries have
 * impossible values, so the others are not reliable either.
 */
bool segusage_is_garbage(const struct nilfs_geometry *g, uint64_t blkoff,
			 const void *block);

/*
 * Checks the counts of live blocks, if the geometry has has_live_blks.  A broken
 * rule means that the counts are stale, as any mainline kernel leaves them; counts
 * without a broken rule may still be wrong.
 */
enum rule segusage_check_ext(const struct nilfs_segment_usage_ext *ext);

#endif
