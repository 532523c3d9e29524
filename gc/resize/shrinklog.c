// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The last log before a volume becomes smaller.
 *
 * The log begins in a fresh segment (lib/log/resize.h).  So the segment written
 * last would stay partly used, and the new one partly empty.  Therefore the log
 * also moves the live blocks of that segment, whose log no superblock names any
 * more, and those of other segments, while there is room.
 *
 * Some dead blocks remain: each log rewrites some metadata, and the old blocks
 * are scattered over segments whose cleaning would gain less than the metadata
 * that it writes.  No dead block remains if the log rewrites all metadata, and
 * moves the live blocks of all segments with metadata or a dead block.
 */
#include "gc/resize/shrinklog.h"

#include <errno.h>

#include "disk/reserve.h"
#include "gc/move/sums.h"
#include "gc/move/target.h"
#include "gc/resize/evacuate.h"
#include "log/resize.h"

/* The maximum number of segments of the log above its minimum. */
#define MOST_SEGMENTS 4

static uint64_t segments_needed(const struct shrinklog *l)
{
	uint64_t bps = l->vol->geo.blocks_per_segment;

	return (batch_need(&l->load) + bps - 1) / bps;
}

/* The load found so far that leaves the fewest segments in use. */
struct best {
	struct load_size load;
	int64_t more;
};

/*
 * Keeps the load if it is the best one so far.  The log needs its own segments
 * and a next one; the victims are then clean.  If the present next segment is
 * its first, it needs no other.
 */
static void keep_better(const struct shrinklog *l, struct best *best)
{
	int64_t more = (int64_t)segments_needed(l) + l->next_taken -
		       (int64_t)l->load.has.nvictims;

	if (more >= best->more)
		return;
	best->more = more;
	best->load = l->load.has;
}

/* Whether segment SEGNUM has to stay where it is. */
static bool is_segment_bad(const struct shrinklog *l, uint64_t segnum)
{
	return l->sums && sums_is_bad(l->sums, segnum);
}

/*
 * Adds segments other than the latest with few live blocks, the emptiest first.
 */
static int take_along(struct shrinklog *l, struct context *cx,
		      uint32_t min_dead, struct best *best)
{
	struct facts *f = &l->facts;
	uint64_t most = segments_needed(l) + MOST_SEGMENTS;
	const struct policy_segment *s;
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, &policy_list[0], &f->env, f->segments,
			      f->n);

	while (!ret && (i = policy_next(&order, 0)) >= 0) {
		s = &f->segments[i];
		if (!policy_is_worth(s, min_dead) ||
		    is_segment_bad(l, s->segnum))
			continue;
		ret = load_take(&l->load, cx, s);
		if (ret < 0)
			break;
		ret = 0;
		fail_clear(cx);
		if (segments_needed(l) > most || load_is_full(&l->load, cx))
			break;
		keep_better(l, best);
	}
	policy_close(&order);
	load_rewind(&l->load, cx, &best->load);
	l->used += (uint64_t)best->more;
	return ret;
}

/* Whether S has, or will have, a dead block other than its summary. */
static bool is_holed(const struct policy_segment *s)
{
	return s->metadata || s->live + 1 < s->blocks;
}

/*
 * Whether the volume can shrink below SEGMENTS with USED segments in use and
 * ROOM for moved blocks.
 */
static bool is_shrink_better(const struct shrinklog *l, uint64_t used,
			     uint64_t room, uint64_t segments)
{
	struct shrinklog then = *l;

	then.used = used;
	return shrinklog_fit(&then) < segments &&
	       l->before + room < shrinklog_fit(&then);
}

bool shrinklog_has_holes(const struct shrinklog *l)
{
	const struct facts *f = &l->facts;
	uint64_t n = 0, live = 0, segments;
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (!is_holed(&f->segments[i]))
			continue;
		n++;
		live += f->segments[i].live;
	}
	segments = live / l->vol->geo.blocks_per_segment;
	return is_shrink_better(l, l->before - n + segments, segments,
				shrinklog_fit(l));
}

/* Adds all segments with a hole, as far as they fit. */
static int take_holed(struct shrinklog *l, struct context *cx)
{
	const struct facts *f = &l->facts;
	size_t i;
	int ret = 0;

	for (i = 0; i < f->n && ret >= 0; i++) {
		fail_clear(cx);
		if (load_is_full(&l->load, cx))
			break;
		if (is_holed(&f->segments[i]) &&
		    !is_segment_bad(l, f->segments[i].segnum))
			ret = load_take(&l->load, cx, &f->segments[i]);
	}
	if (ret < 0)
		return ret;
	fail_clear(cx);
	return 0;
}

int shrinklog_open(struct shrinklog *l, struct context *cx, struct dev *dev,
		   const struct clean_options *o, bool all)
{
	struct best best = { .more = INT64_MAX };
	struct policy_segment next = { 0 };
	struct evacuate_census census;
	int ret;

	*l = (struct shrinklog){ .sums = o->how.batch.sums, .all = all };
	load_init(&l->load, &l->facts);
	ret = target_open_volume(&l->vol, cx, dev);
	if (!ret)
		ret = evacuate_count(l->vol, cx, l->vol->geo.nsegments,
				     &census);
	if (!ret)
		ret = facts_gather(&l->facts, cx, l->vol, o->how.protect, NULL);
	if (!ret)
		ret = facts_count_metadata(&l->facts, cx);
	if (ret)
		return ret;
	l->used = l->before = census.before;
	/* A lower segment than the present next one may be clean. */
	next.segnum = l->vol->latest.nextnum;
	l->next_taken = census.clean < next.segnum;
	if (l->next_taken)
		ret = load_take(&l->load, cx, &next);
	if (ret < 0)
		return ret;
	keep_better(l, &best);
	if (!is_segment_bad(l, l->vol->latest.segnum))
		ret = load_take_latest(&l->load, cx);
	if (ret < 0)
		return ret;
	fail_clear(cx);
	keep_better(l, &best);
	ret = all ? take_holed(l, cx) : take_along(l, cx, o->min_dead, &best);
	load_sort(&l->load, false);
	return ret;
}

bool shrinklog_promises(const struct shrinklog *l, uint64_t segments)
{
	/* Segments that may be in use after the load is written. */
	uint64_t least = l->before + l->next_taken +
		batch_least(&l->load) / l->vol->geo.blocks_per_segment -
		l->load.has.nvictims;

	return is_shrink_better(l, least, segments_needed(l) + l->next_taken,
				segments);
}

uint64_t shrinklog_fit(const struct shrinklog *l)
{
	const struct nilfs_super_block *sb = volume_super(l->vol);

	return reserve_fit(l->used, le32_get(sb->s_r_segments_percentage));
}

int shrinklog_write(struct shrinklog *l, struct context *cx,
		    const struct batch_options *options, uint64_t bytes,
		    struct batch_totals *totals)
{
	struct batch_size size = { .bytes = bytes };
	const struct batch_options how = {
		.time = options->time,
		.forecast = options->forecast,
		.sums = l->sums,
		.front = true,
		.next_taken = l->next_taken,
		.minor = l->all,
		.size = &size,
	};
	uint64_t bad;
	int ret = resize_layout(l->vol, cx, bytes, &size.g);

	if (ret)
		return ret;
	ret = batch_run(&l->load, cx, l->vol, &how, totals, &bad);
	return ret == -EUCLEAN && bad ? -EAGAIN : ret;
}

int shrinklog_measure(struct shrinklog *l, struct context *cx,
		      const struct batch_options *options, uint64_t bytes,
		      uint64_t *segments)
{
	struct batch_totals totals = { 0 };
	struct evacuate_census census;
	struct volume *vol = NULL;
	int ret = shrinklog_write(l, cx, options, bytes, &totals);

	if (!ret)
		ret = volume_open(&vol, cx, l->vol->dev, NULL);
	if (!ret)
		ret = evacuate_count(vol, cx, vol->geo.nsegments, &census);
	volume_close(vol);
	if (ret)
		return ret;
	l->used = census.before;
	*segments = shrinklog_fit(l);
	return 0;
}

void shrinklog_close(struct shrinklog *l)
{
	load_fini(&l->load);
	facts_fini(&l->facts);
	volume_close(l->vol);
	l->vol = NULL;
}
