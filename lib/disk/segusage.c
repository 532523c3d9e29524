// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The segment usage file.
 *
 * An array of entries by segment number.  The header takes two places with entries
 * of 16 bytes, one place with entries of 32.  The kernel accepts any entry size from
 * 16 bytes to a block and does not use the rest of an entry, so places are computed
 * from the geometry, not from a structure.
 */
#include "disk/segusage.h"

#include <string.h>

#include "base/checked.h"

/* Number of invalid entries from which on a whole block is rejected. */
#define GARBAGE_ENTRIES 4

#define KNOWN_FLAGS                                                            \
	(1u << NILFS_SEGMENT_USAGE_ACTIVE | 1u << NILFS_SEGMENT_USAGE_DIRTY |  \
	 1u << NILFS_SEGMENT_USAGE_ERROR)

/* The number of places that the header takes. */
static uint32_t su_header_places(const struct nilfs_geometry *g)
{
	return div_round_up(sizeof(struct nilfs_sufile_header),
			    g->segment_usage_size);
}

uint64_t segusage_blkoff(const struct nilfs_geometry *g, uint64_t segnum)
{
	return (segnum + su_header_places(g)) /
	       (g->block_size / g->segment_usage_size);
}

uint32_t segusage_offset(const struct nilfs_geometry *g, uint64_t segnum)
{
	return (segnum + su_header_places(g)) %
	       (g->block_size / g->segment_usage_size) * g->segment_usage_size;
}

uint64_t segusage_first(const struct nilfs_geometry *g, uint64_t blkoff)
{
	if (!blkoff)
		return 0;
	return blkoff * (g->block_size / g->segment_usage_size) -
	       su_header_places(g);
}

uint32_t segusage_count(const struct nilfs_geometry *g, uint64_t blkoff)
{
	return g->block_size / g->segment_usage_size -
	       (blkoff ? 0 : su_header_places(g));
}

uint64_t segusage_nblocks(const struct nilfs_geometry *g)
{
	return segusage_blkoff(g, g->nsegments - 1) + 1;
}

enum rule segusage_check(const struct nilfs_geometry *g,
			 const struct nilfs_segment_usage *su)
{
	uint32_t nblocks = le32_get(su->su_nblocks);

	if (nblocks > g->blocks_per_segment)
		return RULE_SU_NBLOCKS;
	if (segusage_is_clean(su) && nblocks)
		return RULE_SU_CLEAN_NBLOCKS;
	if (le32_get(su->su_flags) & ~KNOWN_FLAGS)
		return RULE_SU_FLAGS;
	return RULE_OK;
}

bool segusage_is_garbage(const struct nilfs_geometry *g, uint64_t blkoff,
			 const void *block)
{
	uint64_t segnum = segusage_first(g, blkoff);
	uint32_t i, count = segusage_count(g, blkoff), broken = 0;
	struct nilfs_segment_usage su;

	for (i = 0; i < count && segnum + i < g->nsegments; i++) {
		memcpy(&su, (const char *)block +
		       segusage_offset(g, segnum + i), sizeof(su));
		broken += segusage_check(g, &su) != RULE_OK;
	}
	return broken >= GARBAGE_ENTRIES;
}

enum rule segusage_check_ext(const struct nilfs_segment_usage_ext *ext)
{
	uint32_t nlive = le32_get(ext->su_nlive_blks);
	uint32_t nsnapshot = le32_get(ext->su_nsnapshot_blks);

	if (segusage_is_clean(&ext->su) &&
	    (nlive || nsnapshot || le64_get(ext->su_nlive_lastmod)))
		return RULE_SU_CLEAN_NLIVE;
	if (nlive > le32_get(ext->su.su_nblocks))
		return RULE_SU_NLIVE_BLKS;
	if (nsnapshot > nlive)
		return RULE_SU_NSNAPSHOT_BLKS;
	return RULE_OK;
}
