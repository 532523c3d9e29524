// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shrinking.
 *
 * Segments are cleaned until those in use leave enough room, all blocks after
 * the new end are moved before it, and one more log has the SUFILE of the new
 * size; with its superblocks the volume is smaller.
 *
 * The amount of cleaning is found by trials on an overlay: with the minimum,
 * then with the maximum.  A successful trial is repeated on the volume; a
 * failed one changes nothing.  If a read fails, in a trial or after it, some
 * blocks cannot be moved, and the result may not be the minimum.
 */
#include "gc/resize/shrink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "dev/overlay.h"
#include "disk/reserve.h"
#include "disk/super.h"
#include "gc/move/onelog.h"
#include "gc/move/target.h"
#include "gc/resize/evacuate.h"
#include "gc/resize/shrinklog.h"
#include "log/newsupers.h"
#include "vol/protection.h"
#include "vol/volume.h"

/*
 * Makes both superblocks name the latest log, at TIME (seconds): older ones
 * protect younger segments from being cleaned (ns_prot_seq).
 */
static int name_latest(struct context *cx, struct dev *dev, uint64_t time)
{
	struct writer_end end;
	struct volume *vol;
	int ret = target_open_volume(&vol, cx, dev);

	if (ret || protection_seq(vol) >= vol->latest.seq)
		goto out;
	ret = onelog_latest(&end, cx, vol);
	if (!ret)
		ret = newsupers_name(cx, dev, vol, &end, time,
				     le16_get(volume_super(vol)->s_state));
out:
	volume_close(vol);
	return ret;
}

/* A trial: the amount of cleaning, and the result. */
struct try {
	const struct shrink_options *o;
	uint64_t goal;		/* of cleaning */
	uint64_t wanted;	/* segments; 0: the minimum */
	bool forecast;
	bool all;		/* the last log moves all metadata */
	uint64_t segments;	/* of the result */
	uint64_t most;		/* maximum that a forecast moved all blocks before */
	struct batch_totals totals;
	uint64_t left;		/* segments that could not be cleaned */
};

static void add_totals(struct batch_totals *t, const struct batch_totals *more)
{
	t->batches += more->batches;
	t->victims += more->victims;
	t->moved += more->moved;
	t->moved_data += more->moved_data;
	t->forgotten += more->forgotten;
	t->corrected += more->corrected;
	t->written += more->written;
	t->summaries += more->summaries;
	t->checkpoints += more->checkpoints;
}

static uint64_t bytes_of(const struct nilfs_geometry *g, uint64_t nsegments)
{
	return ((nsegments * g->blocks_per_segment) << g->block_bits) + 4096;
}

/*
 * Lets the last log of T rewrite all metadata, if that is better and nothing is
 * after segment END: with fewer segments the SUFILE is shorter.
 */
static int try_all_metadata(struct try *t, struct context *cx, struct dev *dev,
			    uint64_t end)
{
	const struct clean_options *o = &t->o->clean;
	struct batch_options options = o->how.batch;
	struct try all = *t;
	struct shrinklog last;
	struct dev *overlay;
	int ret = shrinklog_open(&last, cx, dev, o, true);

	if (!ret)
		ret = shrinklog_promises(&last, t->segments);
	shrinklog_close(&last);
	if (ret <= 0)
		return ret;
	ret = overlay_open(&overlay, cx, dev, true);
	if (ret)
		return ret;
	all.all = options.forecast = true;
	ret = shrinklog_open(&last, cx, overlay, o, true);
	if (!ret && end > last.vol->geo.nsegments)
		end = last.vol->geo.nsegments;
	if (!ret)
		ret = shrinklog_measure(&last, cx, &options,
					bytes_of(&last.vol->geo, end),
					&all.segments);
	shrinklog_close(&last);
	dev_close(overlay);
	if (!ret && all.segments < t->segments)
		*t = all;
	return ret;
}

/*
 * The smallest number of segments with the current use, or the requested one,
 * if nothing is after segment END.
 */
static int find_least_segments(struct try *t, struct context *cx,
			       struct dev *dev, uint64_t end)
{
	struct shrinklog last;
	bool more = false;
	int ret;

	t->all = false;
	ret = shrinklog_open(&last, cx, dev, &t->o->clean, false);
	if (!ret) {
		t->segments = shrinklog_fit(&last);
		more = t->segments > t->wanted && shrinklog_has_holes(&last);
	}
	shrinklog_close(&last);
	if (more)
		ret = try_all_metadata(t, cx, dev, end);
	if (t->segments < t->wanted)
		t->segments = t->wanted;
	return ret;
}

/*
 * Moves all live blocks before t->segments; for the minimum, before the next
 * value that leaves enough room.  -ENOSPC if that needs more than was forecast.
 */
static int evacuate_last(struct try *t, struct context *cx, struct dev *dev)
{
	const struct evacuate_options options = {
		.protect = t->o->clean.how.protect,
		.time = t->o->clean.how.batch.time,
		.sums = t->o->clean.how.batch.sums,
		.forecast = t->o->clean.how.batch.forecast || t->forecast,
	};
	int ret;

	for (;; t->segments++) {
		ret = evacuate_run(cx, dev, &options, t->segments, &t->totals);
		if (t->forecast && !ret && t->segments > t->most)
			t->most = t->segments;
		if (ret != -ENOSPC || t->wanted ||
		    (!t->forecast && t->segments >= t->most))
			return ret;
		fail_clear(cx);
	}
}

/*
 * Moves all blocks to the front; moving may leave more segments in use than
 * before, or fewer.
 */
static int clean_for_move(struct try *t, struct context *cx, struct dev *dev)
{
	struct clean_options options = t->o->clean;
	uint64_t end = UINT64_MAX;
	struct clean c;
	int ret = name_latest(cx, dev, options.how.batch.time);

	if (!ret && t->goal) {
		options.goal = t->goal;
		if (t->forecast) {
			options.how.batch.forecast = true;
			options.how.left = NULL;
			options.how.moving = NULL;
		}
		ret = clean_run(&c, cx, dev, &options);
		add_totals(&t->totals, &c.totals);
		t->left = c.left;
	}
	if (!ret)
		ret = find_least_segments(t, cx, dev, end);
	while (!ret && t->segments < end) {
		ret = evacuate_last(t, cx, dev);
		if (!ret && t->segments >= end)
			ret = fail(cx, -ENOSPC, "blocks after segment %" PRIu64
				   " cannot be moved", end);
		end = t->segments;
		if (!ret)
			ret = find_least_segments(t, cx, dev, end);
	}
	if (!ret && t->wanted && t->segments > t->wanted)
		ret = fail(cx, -ENOSPC, "%" PRIu64 " segments are needed",
			   t->segments);
	return ret;
}

/*
 * Makes all steps up to the last log, unless that would make nothing smaller.
 */
static int run_try(struct try *t, struct context *cx, struct dev *dev,
		   uint64_t segments_before)
{
	struct batch_options options = t->o->clean.how.batch;
	uint64_t bytes = t->o->bytes;
	struct shrinklog last;
	int ret = clean_for_move(t, cx, dev);

	if (ret || t->segments > segments_before)
		return ret;
	options.forecast |= t->forecast;
	ret = shrinklog_open(&last, cx, dev, &t->o->clean, t->all);
	if (!ret && !t->wanted)
		bytes = bytes_of(&last.vol->geo, t->segments);
	if (!ret)
		ret = shrinklog_write(&last, cx, &options, bytes, &t->totals);
	shrinklog_close(&last);
	return ret;
}

/*
 * Forecasts T, repeatedly while the last log finds flipped bits in its blocks.
 */
static int forecast_try(struct try *t, struct context *cx, struct dev *dev,
			uint64_t segments_before)
{
	const struct try before = *t;
	struct dev *overlay;
	int ret;

	for (;;) {
		ret = overlay_open(&overlay, cx, dev, true);
		if (ret)
			return ret;
		t->forecast = true;
		ret = run_try(t, cx, overlay, segments_before);
		dev_close(overlay);
		if (ret != -EAGAIN)
			return ret;
		fail_clear(cx);
		*t = before;
	}
}

/* Fails, with the possible size in the text. */
static int refuse_shrink(struct context *cx, struct dev *dev,
			 const struct shrink_options *o, const struct shrink *s,
			 const struct nilfs_geometry *g)
{
	struct try least = { .o = o, .goal = CLEAN_ALL };
	int ret = forecast_try(&least, cx, dev, s->segments_before);

	if (ret < 0)
		return ret;
	return fail_said(cx, -ENOSPC, "%s: cannot shrink to %" PRIu64 " bytes: the "
				      "blocks in use need %" PRIu64, dev->name,
			 o->bytes, bytes_of(g, least.segments));
}

/* Finds a T that leaves WANTED segments: 1, 0 for none. */
static int find_way(struct try *t, struct context *cx, struct dev *dev,
		    uint64_t segments_before)
{
	const uint64_t wanted = t->wanted;
	const struct shrink_options *o = t->o;
	uint64_t goals[2] = { CLEAN_ALL, CLEAN_ALL };
	struct shrinklog last;
	unsigned int i;
	int ret = 0;

	if (wanted) {
		/*
		 * The segments to be freed until WANTED of them leave enough
		 * room.
		 */
		ret = shrinklog_open(&last, cx, dev, &o->clean, false);
		for (goals[0] = 0; !ret && shrinklog_fit(&last) > wanted;
		     goals[0]++)
			last.used--;
		shrinklog_close(&last);
	}
	for (i = 0; i < 2 && !ret; i++) {
		*t = (struct try){ .o = o, .goal = goals[i], .wanted = wanted };
		ret = forecast_try(t, cx, dev, segments_before);
		if (!ret)
			return 1;
		if (ret == -ENOSPC && wanted) {
			fail_clear(cx);
			ret = 0;
		}
	}
	return ret;
}

static int shrink_to(struct shrink *s, struct context *cx, struct dev *dev,
		     struct try *t, const struct nilfs_geometry *g)
{
	const struct shrink_options *o = t->o;
	int ret = find_way(t, cx, dev, s->segments_before);
	uint64_t bytes = t->wanted ? o->bytes : bytes_of(g, t->segments);

	if (!ret)
		return refuse_shrink(cx, dev, o, s, g);
	if (ret < 0 || bytes >= s->bytes_before)
		return ret < 0 ? ret : 0;
	*t = (struct try){
		.o = o,
		.goal = t->goal,
		.wanted = t->wanted,
		.most = t->most,
	};
	while ((ret = run_try(t, cx, dev, s->segments_before)) == -EAGAIN)
		fail_clear(cx);
	s->totals = t->totals;
	s->left = t->left;
	/* A segment that was skipped may occupy the room. */
	bytes = t->wanted ? o->bytes : bytes_of(g, t->segments);
	if (ret || t->segments > s->segments_before || bytes >= s->bytes_before)
		return ret;
	s->segments = t->segments;
	s->bytes = bytes;
	ret = dev_resize(dev, cx, bytes);
	if (ret)
		return ret == -EOPNOTSUPP ? 0 : ret;
	return dev_flush(dev, cx);
}

int shrink_run(struct shrink *s, struct context *cx, struct dev *dev,
	       const struct shrink_options *o)
{
	uint64_t failed = dev->stats.failed_reads;
	const struct nilfs_super_block *sb;
	struct try t = { .o = o };
	struct nilfs_geometry g;
	struct volume *vol;
	uint32_t percent;
	int ret = volume_open(&vol, cx, dev, NULL);

	*s = (struct shrink){ 0 };
	if (ret)
		return ret;
	g = vol->geo;
	sb = volume_super(vol);
	percent = le32_get(sb->s_r_segments_percentage);
	s->segments = s->segments_before = g.nsegments;
	s->bytes = s->bytes_before = dev->is_block_device ?
					     le64_get(sb->s_dev_size) :
					     dev->size;
	volume_close(vol);
	if (dev->zones)
		return fail(cx, -EOPNOTSUPP, "%s: has zones; its size cannot "
			    "change", dev->name);
	if (percent < 1 || percent > 99)
		return fail(cx, -EUCLEAN, "%" PRIu32 " percent of the segments "
			    "are reserved; run fsck.nilfs2", percent);
	if (o->bytes == s->bytes)
		return 0;
	if (o->bytes > s->bytes)
		return fail(cx, -EINVAL, "%" PRIu64 " bytes are more than the %"
			    PRIu64 " that the volume has", o->bytes, s->bytes);
	if (!o->bytes) {
		ret = shrink_to(s, cx, dev, &t, &g);
		s->failed_reads = dev->stats.failed_reads - failed;
		return ret;
	}
	t.wanted = super_offset2(o->bytes) /
		   ((uint64_t)g.blocks_per_segment << g.block_bits);
	if (t.wanted < reserve_min_segments(percent))
		return refuse_shrink(cx, dev, o, s, &g);
	return shrink_to(s, cx, dev, &t, &g);
}
