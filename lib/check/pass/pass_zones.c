// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over zones: whether the kernel can write to the segments that it
 * uses next.
 *
 * It needs the SUFILE, whose damage the pass over segments reports, and the
 * segments with live blocks, from the pass over the DAT.
 *
 * The kernel writes a segment from its beginning and ignores write pointers.
 * So they must be at the beginning of clean segments and of the next one, and
 * after the latest log.  Elsewhere they must only be after the blocks in use.
 *
 * Reports are read some zones at a time, in the order of segments.
 */
#include "check/pass/passes.h"

#include "base/checked.h"
#include "check/damage.h"
#include "dev/zone.h"
#include "log/tables/segzones.h"
#include "vol/sutable.h"

#define BATCH 64u

struct walk {
	struct check *c;
	const struct zones *zones;
	const struct nilfs_geometry *geo;
	pass_zones_visit *visit;
	void *arg;
	struct zone batch[BATCH];	/* zones from FIRST on */
	uint64_t first, n;
};

static int zone_state(struct walk *w, struct context *cx, uint64_t n,
		      const struct zone **zone)
{
	int ret;

	if (n < w->first || n - w->first >= w->n) {
		w->first = n;
		w->n = w->zones->count - n < BATCH ? w->zones->count - n :
						     BATCH;
		ret = dev_zone_report(w->c->dev, cx, n, w->batch, w->n);
		if (ret) {
			w->n = 0;
			return ret;
		}
	}
	*zone = &w->batch[n - w->first];
	return 0;
}

static int report_zone(struct walk *w, struct context *cx, enum rule rule,
		       struct place place, uint64_t want, uint64_t got)
{
	const struct finding f = {
		.rule = rule, .place = place, .has_want = true, .has_got = true,
		.want = want, .got = got,
	};

	return want == got ? 0 : w->visit(w->arg, cx, &f);
}

static int take_zone_segment(void *arg, struct context *cx, uint64_t segnum,
			     const struct nilfs_segment_usage *su)
{
	struct walk *w = arg;
	const struct recovery *latest = &w->c->vol->latest;
	struct place place = place_number(PLACE_SEGMENT, segnum);
	struct finding f = { .rule = RULE_ZONE_UNWRITABLE, .place = place };
	uint64_t start = geometry_segment_start(w->geo, segnum);
	uint64_t end = geometry_segment_end(w->geo, segnum), used, n, last;
	uint64_t at, pointer = start;	/* the next block that would be written */
	const struct zone *zone;
	bool sequential = false;
	int ret = 0;

	check_progress(w->c, segnum + 1);
	if (segusage_is_error(su))
		return 0;
	segzones_range(w->zones, w->geo, segnum, &n, &last);
	for (; n < last && !ret; n++) {
		ret = zone_state(w, cx, n, &zone);
		if (ret || zone->kind != ZONE_SEQUENTIAL)
			continue;
		sequential = true;
		at = div_round_up(zone->pointer,
				  UINT64_C(1) << w->geo->block_bits);
		if (zone->pointer != zone->start && at > pointer)
			pointer = at < end ? at : end;
	}
	if (ret)
		return ret;
	if (segzones_is_unusable(w->zones, w->geo, segnum)) {
		/* A zone that begins in a segment before is not only of this
		   one. */
		if (sequential && segusage_is_dirty(su))
			return 0;
		if (sequential)
			f.rule = RULE_ZONE_SHARED;
		return w->visit(w->arg, cx, &f);
	}
	if (!sequential)
		return 0;
	if (segnum == latest->segnum) {
		/* The segment being written; no log begins if fewer than two
		   blocks are left. */
		used = start + latest->offset;
		return end - used < NILFS_PSEG_MIN_BLOCKS && pointer >= used ?
			0 : report_zone(w, cx, RULE_ZONE_LAST_LOG, place, used,
					pointer);
	}
	if (segnum == latest->nextnum)
		return report_zone(w, cx, RULE_ZONE_NEXT, place, start,
				   pointer);
	if (segusage_is_clean(su))
		return bitmap_test(&w->c->live_segments, segnum) ? 0 :
			       report_zone(w, cx, RULE_ZONE_CLEAN, place,
					   start, pointer);
	used = start + le32_get(su->su_nblocks);
	return pointer >= used ? 0 : report_zone(w, cx, RULE_ZONE_BEHIND,
						 place, used, pointer);
}

int pass_zones_walk(struct check *c, struct context *cx,
		    pass_zones_visit *visit, void *arg)
{
	struct walk w = {
		.c = c,
		.zones = c->dev->zones,
		.geo = &c->vol->geo,
		.visit = visit,
		.arg = arg,
	};
	uint64_t n, active = 0, others = 0, most;
	const struct zone *zone;
	int ret;

	if (!w.zones)
		return 0;
	ret = sutable_walk(c->vol, cx, true, take_zone_segment, &w);
	most = w.zones->max_active;
	for (n = 0; most && n < w.zones->count && !ret; n++) {
		ret = zone_state(&w, cx, n, &zone);
		if (ret || zone->kind != ZONE_SEQUENTIAL ||
		    zone->pointer <= zone->start ||
		    zone->pointer >= zone->start + zone->capacity)
			continue;
		active++;
		others += !pass_zones_is_current(c, n);
	}
	/* If none can be finished, this is not an error. */
	if (ret || !others || active < most)
		return ret;
	return report_zone(&w, cx, RULE_ZONE_ACTIVE,
			   place_number(PLACE_VOLUME, 0), most - 1, active);
}

static int add_zone_finding(void *arg, struct context *cx,
			    const struct finding *f)
{
	struct check *c = arg;

	(void)cx;
	findings_add(c->findings, f);
	return 0;
}

int pass_zones(struct check *c, struct context *cx)
{
	if (c->dev->zones)
		c->work = c->vol->geo.nsegments;
	/* Other passes report unreadable blocks. */
	return damage_forgive(cx, pass_zones_walk(c, cx, add_zone_finding, c));
}

/* The segments [*FROM, *END) that overlap zones [FIRST, ZONES_END). */
static void segments_in_zones(const struct check *c, uint64_t first,
			      uint64_t zones_end, uint64_t *from, uint64_t *end)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t bytes = (uint64_t)geo->blocks_per_segment << geo->block_bits;
	uint64_t size = c->dev->zones->size;

	*from = first * size / bytes;
	*end = div_round_up(zones_end * size, bytes);
	if (*end > geo->nsegments)
		*end = geo->nsegments;
}

bool pass_zones_is_held(const struct check *c, uint64_t segnum)
{
	const struct recovery *latest = &c->vol->latest;
	uint64_t first, zones_end, other, end;

	if (bitmap_test(&c->live_segments, segnum))
		return true;
	segzones_range(c->dev->zones, &c->vol->geo, segnum, &first, &zones_end);
	segments_in_zones(c, first, zones_end, &other, &end);
	for (; other < end; other++)
		if (other != segnum &&
		    (other == latest->segnum ||
		     bitmap_test(&c->live_segments, other) ||
		     bitmap_test(&c->used_segments, other)))
			return true;
	return false;
}

bool pass_zones_is_current(const struct check *c, uint64_t n)
{
	const struct recovery *latest = &c->vol->latest;
	uint64_t segnum, end;

	segments_in_zones(c, n, n + 1, &segnum, &end);
	for (; segnum < end; segnum++)
		if (segnum == latest->segnum || segnum == latest->nextnum)
			return true;
	return false;
}
