// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zones of segments.
 *
 * The kernel never resets a zone, and cannot write to a clean segment whose
 * zone is not empty.  So zones of cleaned segments have to be reset, which is
 * done last: as long as a superblock names a state in which the segment is in
 * use, its zone is kept.  Zones left by an interruption are found by the next
 * run, which examines all zones and not only cleaned segments.
 *
 * A writer resets the zones that it uses itself; see log/repairwriter.h.
 */
#include "gc/plan/zoning.h"

#include <string.h>

#include "base/checked.h"
#include "dev/zone.h"
#include "disk/segusage.h"
#include "log/newsupers.h"
#include "log/repairwriter.h"
#include "log/tables/segzones.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define REPORTED 64u	/* zones at a time */

/* The next segment is in use, but nothing is in it. */
static bool is_next_needed(const struct volume *vol, uint64_t segnum,
			   const struct nilfs_segment_usage *su)
{
	return segnum == vol->latest.segnum ||
	       (segusage_is_dirty(su) && (segnum != vol->latest.nextnum ||
					  le32_get(su->su_nblocks)));
}

static int look_at_segment(void *arg, struct context *cx, uint64_t segnum,
			   const struct nilfs_segment_usage *su)
{
	struct zoning *z = arg;

	(void)cx;
	if (is_next_needed(z->vol, segnum, su))
		bitmap_set(&z->needed, segnum);
	if (segusage_is_error(su))
		bitmap_set(&z->shut, segnum);
	return 0;
}

/* Where the pointer of ZONE is when all before byte END is written. */
static uint64_t pointer_at(const struct zone *zone, uint64_t end)
{
	uint64_t most = zone->start + zone->capacity;

	if (end < zone->start)
		return zone->start;
	return end < most ? end : most;
}

static int look_at_latest(struct zoning *z, struct context *cx)
{
	const struct nilfs_geometry *g = &z->vol->geo;
	const struct recovery *latest = &z->vol->latest;
	struct dev *dev = z->vol->dev;
	uint64_t n, behind, end = geometry_segment_start(g, latest->segnum) +
				  latest->offset;
	struct zone zone;
	int ret = 0;

	segzones_range(dev->zones, g, latest->segnum, &n, &behind);
	for (; n < behind && !ret && !z->torn; n++) {
		ret = dev_zone_report(dev, cx, n, &zone, 1);
		if (!ret && zone.kind == ZONE_SEQUENTIAL)
			z->torn = zone.pointer !=
				  pointer_at(&zone, end << g->block_bits);
	}
	return ret;
}

/* The segments [*FROM, *END) that are partly in zones [FIRST, BEHIND). */
static void segments_in(const struct zoning *z, uint64_t first, uint64_t behind,
			uint64_t *from, uint64_t *end)
{
	const struct nilfs_geometry *g = &z->vol->geo;
	uint64_t bytes = (uint64_t)g->blocks_per_segment << g->block_bits;
	uint64_t size = z->vol->dev->zones->size;

	*from = first * size / bytes;
	*end = div_round_up(behind * size, bytes);
	if (*end > g->nsegments)
		*end = g->nsegments;
}

bool zoning_is_unusable(const struct zoning *z, uint64_t segnum)
{
	const struct zones *zones = z->vol->dev->zones;
	uint64_t first, behind, other, end;

	if (!zones)
		return false;
	if (segzones_is_unusable(zones, &z->vol->geo, segnum))
		return true;
	segzones_range(zones, &z->vol->geo, segnum, &first, &behind);
	segments_in(z, first, behind, &other, &end);
	for (; other < end; other++)
		if (other != segnum && bitmap_test(&z->needed, other))
			return true;
	return false;
}

static uint64_t count_lost(const struct zoning *z)
{
	uint64_t segnum, n = 0;

	for (segnum = 0; segnum < z->needed.bits; segnum++)
		n += !bitmap_test(&z->needed, segnum) &&
		     !bitmap_test(&z->shut, segnum) &&
		     zoning_is_unusable(z, segnum);
	return n;
}

int zoning_open(struct zoning *z, struct context *cx, struct volume *vol)
{
	int ret;

	*z = (struct zoning){
		.vol = vol,
		.torn = vol->latest.orphans_start,
	};
	if (!vol->dev->zones)
		return 0;
	ret = bitmap_init(&z->needed, cx, vol->geo.nsegments);
	if (!ret)
		ret = bitmap_init(&z->shut, cx, vol->geo.nsegments);
	if (!ret)
		ret = sutable_walk(vol, cx, false, look_at_segment, z);
	if (!ret)
		z->lost = count_lost(z);
	return ret ? ret : look_at_latest(z, cx);
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

void zoning_fill(struct zoning *z, struct repairwriter_known *known)
{
	known->unusable = is_never_taken;
	known->arg = z;
	known->fresh_segment = z->torn;
	known->orphans_go = true;
}

/* Whether zone N has usable segments, all of them clean. */
static bool is_to_be_empty(const struct zoning *z, uint64_t n)
{
	bool any = false;
	uint64_t segnum, end;

	segments_in(z, n, n + 1, &segnum, &end);
	for (; segnum < end; segnum++) {
		if (bitmap_test(&z->needed, segnum))
			return false;
		any |= !bitmap_test(&z->shut, segnum);
	}
	return any;
}

/* Whether zone N is one of the latest segment. */
static bool is_current(const struct zoning *z, uint64_t n)
{
	uint64_t segnum, end;

	segments_in(z, n, n + 1, &segnum, &end);
	return z->vol->latest.segnum >= segnum && z->vol->latest.segnum < end;
}

/* A copy that is valid but names another log than the one that counts. */
static bool is_other(const struct volume *vol, int copy)
{
	const struct nilfs_super_block *sb = volume_super(vol);

	return vol->choice.verdict[copy] == RULE_OK &&
	       memcmp(&vol->super[copy].s_last_pseg, &sb->s_last_pseg,
		      sizeof(sb->s_last_pseg));
}

/* Before the first zone is emptied. */
static int settle_supers(struct zoning *z, struct context *cx)
{
	if (z->settled || (!is_other(z->vol, 0) && !is_other(z->vol, 1)))
		return 0;
	z->settled = true;
	return newsupers_write(cx, z->vol->dev, volume_super(z->vol),
			       newsupers_offset2(z->vol));
}

static int settle_zone(struct zoning *z, struct context *cx, uint64_t n,
		       const struct zone *zone)
{
	struct dev *dev = z->vol->dev;
	int ret;

	if (zone->kind != ZONE_SEQUENTIAL || zone->pointer == zone->start)
		return 0;
	if (is_to_be_empty(z, n)) {
		ret = settle_supers(z, cx);
		return ret ? ret : dev_zone_reset(dev, cx, zone->start,
						  zone->size);
	}
	if (!dev->zones->max_active || is_current(z, n) ||
	    zone->pointer == zone->start + zone->capacity)
		return 0;
	return dev_zone_finish(dev, cx, zone->start, zone->size);
}

static int settle_zones(struct zoning *z, struct context *cx)
{
	struct dev *dev = z->vol->dev;
	struct zone zones[REPORTED];
	uint64_t n, i, count;
	int ret = 0;

	for (n = 0; n < dev->zones->count && !ret; n += count) {
		count = dev->zones->count - n;
		if (count > REPORTED)
			count = REPORTED;
		ret = dev_zone_report(dev, cx, n, zones, count);
		for (i = 0; i < count && !ret; i++)
			ret = settle_zone(z, cx, n + i, &zones[i]);
	}
	return ret ? ret : dev_flush(dev, cx);
}

int zoning_settle(struct context *cx, struct dev *dev)
{
	struct zoning z = { 0 };
	struct volume *vol;
	int ret;

	if (!dev->zones)
		return 0;
	ret = volume_open(&vol, cx, dev, NULL);
	if (!ret)
		ret = zoning_open(&z, cx, vol);
	if (!ret)
		ret = settle_zones(&z, cx);
	zoning_close(&z);
	volume_close(vol);
	return ret;
}
