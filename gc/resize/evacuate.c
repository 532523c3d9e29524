// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Evacuation.
 *
 * Whole segments are moved as by a cleaner, and nothing is written after the
 * end.  Each round moves as many as fit into memory and the clean segments
 * before the end.  The segments of the log itself, and those that a
 * superblock's log needs, cannot be moved at once.  The log of the next round
 * is at the front and both superblocks name it, so that they can be moved then.
 */
#include "gc/resize/evacuate.h"

#include <errno.h>
#include <inttypes.h>

#include "disk/geometry.h"
#include "gc/move/load.h"
#include "gc/plan/facts.h"
#include "vol/sutable.h"
#include "vol/writable.h"

struct evacuation {
	const struct evacuate_options *o;
	uint64_t end;
	struct batch_totals *totals;
	struct volume *vol;
	struct facts facts;
	struct facts_kept kept;	/* from the last round */
	struct load load;
	struct evacuate_census census;
};

static int count_segment(void *arg, struct context *cx, uint64_t segnum,
			 const struct nilfs_segment_usage *su)
{
	struct evacuate_census *census = arg;

	(void)cx;
	if (segusage_is_clean(su) && segnum < census->clean)
		census->clean = segnum;
	if (segnum < census->end)
		census->before += !segusage_is_clean(su);
	else
		census->after += segusage_is_dirty(su);
	return 0;
}

int evacuate_count(struct volume *vol, struct context *cx, uint64_t end,
		   struct evacuate_census *census)
{
	*census = (struct evacuate_census){ .end = end, .clean = UINT64_MAX };
	return sutable_walk(vol, cx, true, count_segment, census);
}

/* Blocks that can be written before the end. */
static uint64_t room_before_end(const struct evacuation *e)
{
	const struct nilfs_geometry *g = &e->vol->geo;
	const struct recovery *latest = &e->vol->latest;
	uint64_t clean = e->end - e->census.before;
	uint64_t rest = 0;

	/*
	 * A next segment has to be reserved if the present one is after the
	 * end.
	 */
	if (latest->nextnum >= e->end)
		return clean ? (clean - 1) * g->blocks_per_segment : 0;
	if (latest->segnum < e->end && !e->facts.zones.torn)
		rest = geometry_segment_end(g, latest->segnum) -
		       geometry_segment_start(g, latest->segnum) -
		       latest->offset;
	return rest + clean * g->blocks_per_segment;
}

/* Makes one round: 1; 0 if nothing is left to be moved. */
static int evacuate_round(struct evacuation *e, struct context *cx)
{
	const struct evacuate_options *o = e->o;
	const struct recovery *latest = &e->vol->latest;
	const struct batch_options options = {
		.time = o->time,
		.sums = o->sums,
		.forecast = o->forecast,
		.front = true,
		.fresh = latest->segnum >= e->end,
		.end = e->end,
	};
	struct load *l = &e->load;
	struct load_size before;
	uint64_t bad;
	bool waits = false;	/* segments until superblocks name a younger log */
	bool full = false;	/* the memory of a round is full */
	size_t i;
	int ret = writable_check(cx, e->vol);

	if (!ret)
		ret = evacuate_count(e->vol, cx, e->end, &e->census);
	if (ret || !e->census.after)
		return ret;
	ret = facts_gather(&e->facts, cx, e->vol, o->protect, &e->kept);
	load_init(l, &e->facts);
	for (i = 0; i < e->facts.n && !ret && !full; i++) {
		if (e->facts.segments[i].segnum < e->end)
			continue;
		before = l->has;
		ret = load_take(l, cx, &e->facts.segments[i]);
		if (!ret && cx->failure[0])
			ret = -EUCLEAN;
		waits |= !ret;
		full = load_is_full(l, cx);
		if (ret > 0 && (full || batch_need(l) > room_before_end(e)))
			load_rewind(l, cx, &before);
		if (ret > 0)
			ret = 0;
	}
	if (!ret)
		load_sort(l, false);
	/*
	 * Another log helps if it moves blocks, or the log itself to the front,
	 * or if superblocks then name a younger one.
	 */
	if (!ret && batch_need(l) <= room_before_end(e) &&
	    (l->has.nvictims || waits || latest->segnum >= e->end ||
	     latest->nextnum >= e->end))
		ret = batch_run(l, cx, e->vol, &options, e->totals, &bad);
	else if (!ret)
		ret = fail(cx, -ENOSPC, "%" PRIu64 " segments after segment %"
			   PRIu64 " do not fit before it", e->census.after,
			   e->end);
	load_fini(l);
	facts_keep(&e->facts, &e->kept);
	facts_fini(&e->facts);
	return ret ? ret : 1;
}

/*
 * Two logs without a victim, one for the position and one for the superblocks,
 * can be needed one after the other; a third would change nothing.
 */
#define EMPTY_MAX 2

int evacuate_run(struct context *cx, struct dev *dev,
		 const struct evacuate_options *options, uint64_t end,
		 struct batch_totals *totals)
{
	struct evacuation e = { .o = options, .end = end, .totals = totals };
	unsigned int empty = 0;
	uint64_t victims;
	int ret;

	do {
		victims = totals->victims;
		ret = volume_open(&e.vol, cx, dev, NULL);
		if (!ret)
			ret = evacuate_round(&e, cx);
		volume_close(e.vol);
		e.vol = NULL;
		if (ret == -EAGAIN) {
			fail_clear(cx);
			facts_forget(&e.kept);
			ret = 1;
			continue;
		}
		empty = totals->victims > victims ? 0 : empty + 1;
		if (ret > 0 && empty > EMPTY_MAX)
			ret = fail(cx, -EUCLEAN, "blocks after segment %"
				   PRIu64 " cannot be moved", end);
	} while (ret > 0);
	facts_forget(&e.kept);
	return ret;
}
