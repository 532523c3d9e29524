// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Segments on zones.
 *
 * A segment is written from its beginning, and its last blocks may stay
 * unwritten.  So a sequential zone can contain one segment, at its beginning;
 * space after that can never be written.  A segment may span several zones.
 */
#include "log/tables/segzones.h"

void segzones_range(const struct zones *zones, const struct nilfs_geometry *g,
		    uint64_t segnum, uint64_t *first, uint64_t *end)
{
	uint64_t start = geometry_segment_start(g, segnum) << g->block_bits;
	uint64_t after = geometry_segment_end(g, segnum) << g->block_bits;

	*first = zone_of(zones, start);
	*end = zone_of(zones, after - 1) + 1;
	if (*end > zones->count)
		*end = zones->count;
}

bool segzones_is_unusable(const struct zones *zones,
			  const struct nilfs_geometry *g, uint64_t segnum)
{
	uint64_t start = geometry_segment_start(g, segnum) << g->block_bits;
	uint64_t n, first, end;

	segzones_range(zones, g, segnum, &first, &end);
	for (n = first; n < end; n++)
		if (zones->kinds[n] == ZONE_UNWRITABLE)
			return true;
	return first >= end || (zones->kinds[first] == ZONE_SEQUENTIAL &&
				start != first * zones->size);
}
