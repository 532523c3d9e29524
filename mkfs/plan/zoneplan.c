// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From zones to segments.
 *
 * The kernel fills a segment from its beginning and leaves its last blocks
 * unwritten if no log fits.  Blocks after an unwritten block of a sequential zone
 * cannot be written, so such a zone can hold one usable segment.  A segment is as
 * long as a zone or, if zones cannot be filled to their end, the largest power of 2
 * below their capacity.  In the latter case the other segments of each sequential
 * zone have the error flag, so that the kernel never allocates them.
 *
 * The first superblock is rewritten in place: zone 0 must be conventional.  For
 * the second one, in the last 4 KiB, there are two recipes:
 *
 * A. The last zone is sequential.  Segments extend to the end of the device, so
 *    the second superblock would lie in a segment.  The kernel detects that from
 *    the first superblock, and never reads or writes the second one.
 * B. The last zone is conventional.  Segments end before the second superblock, as
 *    on any device.
 */
#include "mkfs/plan/zoneplan.h"

#include <errno.h>
#include <inttypes.h>

#include "disk/ondisk.h"
#include "disk/reserve.h"
#include "log/writer.h"
#include "mkfs/plan/plan.h"

static bool is_last_conventional(const struct zones *zones)
{
	return zones->kinds[zones->count - 1] == ZONE_CONVENTIONAL;
}

int zoneplan_blocks(struct context *cx, const struct mkfs_options *o,
		    const struct plan_facts *facts, struct nilfs_geometry *g)
{
	/* The largest power of 2 that does not exceed the capacity. */
	uint64_t segment = UINT64_C(1) <<
			   (63 - __builtin_clzll(facts->zones->capacity));
	uint64_t blocks = segment / g->block_size;

	if (blocks < NILFS_SEG_MIN_BLOCKS)
		return fail(cx, -EINVAL, "%s: zones of %" PRIu64 " bytes with "
			    "a capacity of %" PRIu64 " do not hold a segment "
			    "of %d blocks of %" PRIu32, facts->name,
			    facts->zones->size, facts->zones->capacity,
			    NILFS_SEG_MIN_BLOCKS, g->block_size);
	if (blocks > INT32_MAX)
		return fail(cx, -EINVAL, "%s: zones of %" PRIu64 " bytes are "
			    "larger than a segment can be", facts->name,
			    facts->zones->size);
	if (o->blocks_per_segment != options_defaults.blocks_per_segment &&
	    o->blocks_per_segment != blocks)
		return fail(cx, -EINVAL, "--blocks-per-segment: the zones of "
			    "%s ask for %" PRIu64, facts->name, blocks);
	g->blocks_per_segment = (uint32_t)blocks;
	return 0;
}

/* Checks the zones independent of the layout. */
static int check_zones(struct context *cx, const struct mkfs_options *o,
		       const struct plan_facts *facts)
{
	const struct zones *zones = facts->zones;

	if (zones->kinds[0] != ZONE_CONVENTIONAL)
		return fail(cx, -EINVAL, "%s: cannot hold NILFS2: its first "
			    "zone is not conventional, but the superblock is "
			    "rewritten in place", facts->name);
	if (!is_last_conventional(zones) && zones->last_size < zones->size)
		return fail(cx, -EINVAL, "%s: cannot hold NILFS2: its last zone"
			    " is sequential and shorter than the others, so no "
			    "segment covers the place of the second superblock",
			    facts->name);
	if (zones->max_open == 1 || zones->max_active == 1)
		return fail(cx, -EINVAL, "%s: cannot hold NILFS2: only one zone"
			    " can be %s at a time", facts->name,
			    zones->max_open == 1 ? "open" : "active");
	if (o->check > 1)
		return fail(cx, -EINVAL, "--check: zones cannot be tested by "
			    "writing");
	return 0;
}

bool zoneplan_unusable(const struct plan *plan, uint64_t segnum)
{
	const struct zoneplan *z = &plan->zoned;
	uint64_t zone = segnum / z->per_zone;

	if (zone >= z->zones->count || z->zones->kinds[zone] == ZONE_UNWRITABLE)
		return true;
	return z->zones->kinds[zone] == ZONE_SEQUENTIAL &&
	       segnum % z->per_zone;
}

int zoneplan_segments(struct context *cx, const struct mkfs_options *o,
		      const struct plan_facts *facts, struct plan *plan)
{
	const struct zones *zones = facts->zones;
	uint64_t segment = (uint64_t)plan->g.blocks_per_segment *
			   plan->g.block_size;
	uint64_t sequential = zone_count(zones, ZONE_SEQUENTIAL);
	uint64_t segnum, usable, least;
	int ret = check_zones(cx, o, facts);

	if (ret)
		return ret;
	/*
	 * A zone that is not filled stays active after the kernel has finished its
	 * segment.  This is always so if a segment is smaller than the capacity, else if
	 * no log fitted into the last blocks.
	 */
	if (!o->force && zones->max_active && zones->max_active < sequential)
		return fail(cx, -EINVAL, "%s: only %" PRIu32 " of its %" PRIu64
			    " sequential zones can be active, and Linux does "
			    "not finish those that NILFS2 leaves unfilled; -f "
			    "makes the volume", facts->name,
			    zones->max_active, sequential);
	plan->zoned.zones = zones;
	plan->zoned.per_zone = (uint32_t)(zones->size / segment);
	plan->zoned.lost = (zones->capacity - segment) * sequential;
	if (!is_last_conventional(zones)) {
		plan->super2 = 0;
		plan->g.nsegments = facts->size / segment;
	}
	usable = plan->g.nsegments;
	for (segnum = 0; segnum < plan->g.nsegments; segnum++)
		usable -= zoneplan_unusable(plan, segnum);
	plan->zoned.unusable = plan->g.nsegments - usable;
	/* The minimum is that of any device.  The reserve counts all segments. */
	least = reserve_segments(plan->g.nsegments, plan->reserved) +
		RESERVE_MIN_USER_SEGMENTS;
	if (usable >= least)
		return 0;
	return fail(cx, -EINVAL, "%s: too few zones: %" PRIu64 " segments, of "
				 "which %" PRIu64 " can be used; %" PRIu64 " "
				 "are needed", facts->name, plan->g.nsegments,
		    usable, least);
}

static bool is_zone_unusable(void *arg, uint64_t segnum)
{
	return zoneplan_unusable(arg, segnum);
}

void zoneplan_writer(struct plan *plan, struct writer_options *options)
{
	if (!plan->zoned.zones)
		return;
	writer_options_zoned(options, &plan->g);
	options->unusable = is_zone_unusable;
	options->arg = plan;
}

const char *zoneplan_recipe(const struct plan *plan)
{
	return plan->super2 ? "B" : "A";
}
