// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zones of segments.
 *
 * The kernel never resets a zone, and cannot write to a clean segment whose
 * zone is not empty.  So zones of cleaned segments have to be reset.  This is
 * done last: as long as a superblock names a state in which the segment is in
 * use, its zone is kept.  Zones left by an interruption are found by the next
 * run, which examines all zones and not only cleaned segments.
 *
 * A writer resets the zones that it uses itself; see log/directwriter.h.
 */
#include "gc/plan/zoning.h"

#include <string.h>

#include "base/checked.h"
#include "dev/zone.h"
#include "disk/segusage.h"
#include "log/directwriter.h"
#include "log/newsupers.h"
#include "log/tables/segzones.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define REPORTED 64u	/* zones per request */

static int look_at_segment(void *arg, struct context *cx, uint64_t segnum,
			   const struct nilfs_segment_usage *su)
{
	struct zoning *z = arg;
	const struct recovery *latest = &z->vol->latest;

	(void)cx;
	/* The next segment is in use, but empty. */
	if (segnum == latest->segnum ||
	    (segusage_is_dirty(su) &&
	     (segnum != latest->nextnum || le32_get(su->su_nblocks))))
		bitmap_set(&z->needed, segnum);
	if (segusage_is_error(su))
		bitmap_set(&z->shut, segnum);
	return 0;
}

/* The segments [*FROM, *END) that are partly in zones [FIRST, AFTER). */
static void zone_segments(const struct zoning *z, uint64_t first,
			  uint64_t after, uint64_t *from, uint64_t *end)
{
	const struct nilfs_geometry *g = &z->vol->geo;
	uint64_t bytes = (uint64_t)g->blocks_per_segment << g->block_bits;
	uint64_t size = z->vol->dev->zones->size;

	*from = first * size / bytes;
	*end = div_round_up(after * size, bytes);
	if (*end > g->nsegments)
		*end = g->nsegments;
}

bool zoning_is_unusable(const struct zoning *z, uint64_t segnum)
{
	const struct zones *zones = z->vol->dev->zones;
	uint64_t first, after, other, end;

	if (!zones)
		return false;
	if (segzones_is_unusable(zones, &z->vol->geo, segnum))
		return true;
	segzones_range(zones, &z->vol->geo, segnum, &first, &after);
	zone_segments(z, first, after, &other, &end);
	for (; other < end; other++)
		if (other != segnum && bitmap_test(&z->needed, other))
			return true;
	return false;
}

int zoning_open(struct zoning *z, struct context *cx, struct volume *vol)
{
	const struct nilfs_geometry *g = &vol->geo;
	const struct recovery *latest = &vol->latest;
	uint64_t segnum, n, after, end, most;
	struct zone zone;
	int ret;

	*z = (struct zoning){
		.vol = vol,
		.torn = latest->orphans_start,
	};
	if (!vol->dev->zones)
		return 0;
	ret = bitmap_init(&z->needed, cx, g->nsegments);
	if (!ret)
		ret = bitmap_init(&z->shut, cx, g->nsegments);
	if (!ret)
		ret = sutable_walk(vol, cx, false, look_at_segment, z);
	if (ret)
		return ret;
	for (segnum = 0; segnum < z->needed.bits; segnum++)
		z->lost += !bitmap_test(&z->needed, segnum) &&
			   !bitmap_test(&z->shut, segnum) &&
			   zoning_is_unusable(z, segnum);
	/*
	 * Whether the zone is written exactly up to the end of the latest log.
	 */
	end = (geometry_segment_start(g, latest->segnum) + latest->offset)
	      << g->block_bits;
	segzones_range(vol->dev->zones, g, latest->segnum, &n, &after);
	for (; n < after && !ret && !z->torn; n++) {
		ret = dev_zone_report(vol->dev, cx, n, &zone, 1);
		if (ret || zone.kind != ZONE_SEQUENTIAL)
			continue;
		most = zone.start + zone.capacity;
		z->torn = zone.pointer != (end < zone.start ? zone.start :
					   end < most ? end : most);
	}
	return ret;
}

void zoning_close(struct zoning *z)
{
	bitmap_fini(&z->needed);
	bitmap_fini(&z->shut);
}

static bool is_never_taken(void *arg, uint64_t segnum)
{
	return zoning_is_unusable(arg, segnum);
}

void zoning_fill(struct zoning *z, struct directwriter_known *known)
{
	known->unusable = is_never_taken;
	known->arg = z;
	known->fresh_segment = z->torn;
	known->orphans_go = true;
}

/*
 * Resets zone N if it has usable segments, and all of them are clean; finishes
 * it if too many zones are active and it is not that of the latest segment.
 */
static int settle_zone(struct zoning *z, struct context *cx, uint64_t n,
		       const struct zone *zone)
{
	struct volume *vol = z->vol;
	struct dev *dev = vol->dev;
	const struct nilfs_super_block *sb = volume_super(vol);
	bool needed = false, usable = false, current = false;
	uint64_t segnum, end;
	int copy, ret = 0;

	if (zone->kind != ZONE_SEQUENTIAL || zone->pointer == zone->start)
		return 0;
	zone_segments(z, n, n + 1, &segnum, &end);
	for (; segnum < end; segnum++) {
		needed |= bitmap_test(&z->needed, segnum);
		usable |= !bitmap_test(&z->shut, segnum);
		current |= segnum == vol->latest.segnum;
	}
	if (needed || !usable) {
		if (!dev->zones->max_active || current ||
		    zone->pointer == zone->start + zone->capacity)
			return 0;
		return dev_zone_change(dev, cx, zone->start, zone->size, true);
	}
	/*
	 * Before the first zone is reset no valid superblock may name another
	 * log than the latest one.
	 */
	for (copy = 0; copy < 2 && !z->settled; copy++) {
		if (vol->choice.verdict[copy] != RULE_OK ||
		    !memcmp(&vol->super[copy].s_last_pseg, &sb->s_last_pseg,
			    sizeof(sb->s_last_pseg)))
			continue;
		z->settled = true;
		ret = newsupers_write(cx, dev, sb, newsupers_offset2(vol));
	}
	return ret ? ret : dev_zone_change(dev, cx, zone->start, zone->size, false);
}

int zoning_settle(struct context *cx, struct dev *dev)
{
	struct zone zones[REPORTED];
	struct zoning z = { 0 };
	struct volume *vol;
	uint64_t n, i, count;
	int ret;

	if (!dev->zones)
		return 0;
	ret = volume_open(&vol, cx, dev, NULL);
	if (!ret)
		ret = zoning_open(&z, cx, vol);
	for (n = 0; n < dev->zones->count && !ret; n += count) {
		count = dev->zones->count - n;
		if (count > REPORTED)
			count = REPORTED;
		ret = dev_zone_report(dev, cx, n, zones, count);
		for (i = 0; i < count && !ret; i++)
			ret = settle_zone(&z, cx, n + i, &zones[i]);
	}
	if (!ret)
		ret = dev_flush(dev, cx);
	zoning_close(&z);
	volume_close(vol);
	return ret;
}
