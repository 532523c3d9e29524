/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segment usage file: its header and its entries. */
#ifndef NILFS2_DISK_SEGUSAGE_H
#define NILFS2_DISK_SEGUSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* Block (offset in the file) of segment SEGNUM, and its byte there. */
uint64_t segusage_blkoff(const struct nilfs_geometry *g, uint64_t segnum);
uint32_t segusage_offset(const struct nilfs_geometry *g, uint64_t segnum);

/* Number of the first segment in block BLKOFF, and how many have room. */
uint64_t segusage_first(const struct nilfs_geometry *g, uint64_t blkoff);
uint32_t segusage_count(const struct nilfs_geometry *g, uint64_t blkoff);

/* Blocks of a file that describes all segments. */
uint64_t segusage_nblocks(const struct nilfs_geometry *g);

/* Clean: no flag at all.  The kernel never stores ACTIVE; mkfs does. */
bool segusage_is_clean(const struct nilfs_segment_usage *su);
bool segusage_is_dirty(const struct nilfs_segment_usage *su);
bool segusage_is_error(const struct nilfs_segment_usage *su);

/* Checks the fields that every entry has; the kernel checks none. */
enum rule segusage_check(const struct nilfs_geometry *g,
			 const struct nilfs_segment_usage *su);

/*
 * Whether BLOCK, number BLKOFF of the file, is no block of it: several entries
 * have values that none can have, so the others are not to be believed either.
 */
bool segusage_is_garbage(const struct nilfs_geometry *g, uint64_t blkoff,
			 const void *block);

/*
 * Checks the counts of live blocks, where the geometry says has_live_blks.  A
 * broken rule means that the counts are stale, as any mainline kernel leaves
 * them; no broken rule does not mean that they are right.
 */
enum rule segusage_check_ext(const struct nilfs_segment_usage_ext *ext);

#endif
