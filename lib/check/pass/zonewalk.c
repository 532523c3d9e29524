// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comparing the zones of a volume with its SUFILE.
 *
 * The kernel writes a segment from its beginning and ignores write pointers.
 * So they must be where it will write: at the beginning of clean segments and
 * of the next one, and after the latest log.  Elsewhere they need only be after
 * the blocks in use.
 *
 * Reports are read some zones at a time, in the order of segments.
 */
#include "check/pass/zonewalk.h"

#include "base/checked.h"
#include "dev/zone.h"
#include "log/tables/segzones.h"
#include "vol/sutable.h"

#define BATCH 64u

struct walk {
	struct check *c;
	const struct zones *zones;
	const struct nilfs_geometry *geo;
	zonewalk_visit *visit;
	void *arg;
	struct zone batch[BATCH];	/* from zone FIRST on */
	uint64_t first, n;
};

/* The state of one segment's zones. */
struct state {
	bool sequential;	/* one of them is */
	uint64_t start, end;	/* blocks of the segment */
	uint64_t pointer;	/* where it would be written next, a block */
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

static int look_at(struct walk *w, struct context *cx, uint64_t segnum,
		   struct state *s)
{
	uint32_t bits = w->geo->block_bits;
	const struct zone *zone;
	uint64_t n, end, pointer;
	int ret = 0;

	s->sequential = false;
	s->start = s->pointer = geometry_segment_start(w->geo, segnum);
	s->end = geometry_segment_end(w->geo, segnum);
	segzones_range(w->zones, w->geo, segnum, &n, &end);
	for (; n < end && !ret; n++) {
		ret = zone_state(w, cx, n, &zone);
		if (ret || zone->kind != ZONE_SEQUENTIAL)
			continue;
		s->sequential = true;
		if (zone->pointer == zone->start)
			continue;
		pointer = div_round_up(zone->pointer, UINT64_C(1) << bits);
		if (pointer > s->pointer)
			s->pointer = pointer < s->end ? pointer : s->end;
	}
	return ret;
}

static int report_zone(struct walk *w, struct context *cx, enum rule rule,
		       uint64_t segnum, uint64_t want, uint64_t got)
{
	const struct zonewalk_item item = { rule, segnum, want, got };

	return want == got ? 0 : w->visit(w->arg, cx, &item);
}

/* The one being written; no log begins where two blocks do not fit. */
static int take_latest(struct walk *w, struct context *cx,
		       const struct state *s)
{
	const struct recovery *latest = &w->c->vol->latest;
	uint64_t end = s->start + latest->offset;

	if (s->end - end < NILFS_PSEG_MIN_BLOCKS && s->pointer >= end)
		return 0;
	return report_zone(w, cx, RULE_ZONE_LAST_LOG, latest->segnum, end,
			   s->pointer);
}

static int take_segment(struct walk *w, struct context *cx, uint64_t segnum,
			const struct nilfs_segment_usage *su)
{
	const struct recovery *latest = &w->c->vol->latest;
	uint64_t end = geometry_segment_start(w->geo, segnum) +
		       le32_get(su->su_nblocks);
	struct state s;
	int ret;

	if (segusage_is_error(su))
		return 0;
	if (segzones_is_unusable(w->zones, w->geo, segnum)) {
		/* The beginning of what is shared is not its own. */
		ret = look_at(w, cx, segnum, &s);
		if (ret || (s.sequential && segusage_is_dirty(su)))
			return ret;
		return report_zone(w, cx, s.sequential ? RULE_ZONE_SHARED :
							 RULE_ZONE_UNWRITABLE,
				   segnum, 0, 1);
	}
	ret = look_at(w, cx, segnum, &s);
	if (ret || !s.sequential)
		return ret;
	if (segnum == latest->segnum)
		return take_latest(w, cx, &s);
	if (segnum == latest->nextnum)
		return report_zone(w, cx, RULE_ZONE_NEXT, segnum, s.start,
				   s.pointer);
	if (segusage_is_clean(su))
		return bitmap_test(&w->c->live_segments, segnum) ? 0 :
			       report_zone(w, cx, RULE_ZONE_CLEAN, segnum,
					   s.start, s.pointer);
	return s.pointer >= end ? 0 : report_zone(w, cx, RULE_ZONE_BEHIND,
						  segnum, end, s.pointer);
}

static int walk_segments(struct walk *w, struct context *cx)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, w->c->vol, true);

	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = take_segment(w, cx, segnum, &su.su);
		check_progress(w->c, segnum + 1);
	}
	sutable_cursor_close(&cur);
	return ret;
}

static bool is_active(const struct zone *zone)
{
	return zone->kind == ZONE_SEQUENTIAL && zone->pointer > zone->start &&
	       zone->pointer < zone->start + zone->capacity;
}

/* If none of them can be finished, this is not an error. */
static int count_active(struct walk *w, struct context *cx)
{
	uint64_t n, active = 0, idle = 0, most = w->zones->max_active;
	const struct zone *zone;
	int ret = 0;

	for (n = 0; most && n < w->zones->count && !ret; n++) {
		ret = zone_state(w, cx, n, &zone);
		if (ret || !is_active(zone))
			continue;
		active++;
		idle += !zonewalk_is_current(w->c, n);
	}
	if (ret || !idle || active < most)
		return ret;
	return report_zone(w, cx, RULE_ZONE_ACTIVE, 0, most - 1, active);
}

int zonewalk_run(struct check *c, struct context *cx, zonewalk_visit *visit,
		 void *arg)
{
	struct walk w = {
		.c = c,
		.zones = c->dev->zones,
		.geo = &c->vol->geo,
		.visit = visit,
		.arg = arg,
	};
	int ret;

	if (!w.zones)
		return 0;
	ret = walk_segments(&w, cx);
	return ret ? ret : count_active(&w, cx);
}

/* The segments [*FROM, *END) that are partly in zones [FIRST, BEHIND). */
static void segments_in(const struct check *c, uint64_t first, uint64_t behind,
			uint64_t *from, uint64_t *end)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t bytes = (uint64_t)geo->blocks_per_segment << geo->block_bits;
	uint64_t size = c->dev->zones->size;

	*from = first * size / bytes;
	*end = div_round_up(behind * size, bytes);
	if (*end > geo->nsegments)
		*end = geo->nsegments;
}

bool zonewalk_is_held(const struct check *c, uint64_t segnum)
{
	const struct recovery *latest = &c->vol->latest;
	uint64_t first, behind, other, end;

	if (bitmap_test(&c->live_segments, segnum))
		return true;
	segzones_range(c->dev->zones, &c->vol->geo, segnum, &first, &behind);
	segments_in(c, first, behind, &other, &end);
	for (; other < end; other++)
		if (other != segnum &&
		    (other == latest->segnum ||
		     bitmap_test(&c->live_segments, other) ||
		     bitmap_test(&c->used_segments, other)))
			return true;
	return false;
}

bool zonewalk_is_current(const struct check *c, uint64_t n)
{
	const struct recovery *latest = &c->vol->latest;
	uint64_t segnum, end;

	segments_in(c, n, n + 1, &segnum, &end);
	for (; segnum < end; segnum++)
		if (segnum == latest->segnum || segnum == latest->nextnum)
			return true;
	return false;
}
