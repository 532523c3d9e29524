// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over logs: what was really written into the segments in use.
 *
 * Checked are the logs of each segment up to where the SUFILE says that its
 * blocks end, their summaries with their checksums, their sequence numbers
 * (one for a segment, none twice, none beyond the latest), and on demand the
 * checksum over every block.  What they list is matched with what the DAT
 * claims (claims.h).  Needs the passes over segments and the DAT; logs written
 * after the latest super root are not looked at.
 *
 * Segments are independent of each other: each worker has a volume of its own
 * and takes some segments at a time.
 */
#include "check/pass/passes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/pool.h"
#include "check/check.h"
#include "check/logs/claims.h"
#include "check/logs/logwalk.h"
#include "check/logs/mapsums.h"
#include "vol/ahead.h"
#include "vol/sutable.h"

#define BATCH_SEGMENTS 16
#define SUMMARY_BYTES 20	/* a block */
#define SEQUENCES_MAX (UINT64_C(1) << 32)

struct crowd {
	struct check *c;
	struct logwalk *walks;	/* one a worker */
	struct sparse sequences;
	uint64_t first, end;	/* the segments of the window */
	uint64_t done;		/* segments */
};

static int check_segment(struct crowd *crowd, struct context *cx,
			 struct logwalk *w, uint64_t segnum)
{
	struct check *c = crowd->c;
	const struct nilfs_geometry *geo = &w->vol->geo;
	uint64_t start = geometry_segment_start(geo, segnum);
	uint64_t end = geometry_segment_end(geo, segnum);
	enum logwalk_mode mode = LOGWALK_LOOSE;
	struct nilfs_segment_usage_ext su;
	uint32_t nblocks;
	int err;

	if (bitmap_test(&c->broken_segments, segnum)) {
		claims_drop(c, start, end);
		return 0;
	}
	if (segnum == w->vol->latest.segnum)
		return logwalk_segment(w, cx, segnum,
				       (uint32_t)w->vol->latest.offset,
				       LOGWALK_EXACT);
	err = sutable_read(w->vol, cx, segnum, &su);
	if (err)
		return check_damage(c, cx, err, RULE_SU_UNREADABLE,
				    place_number(PLACE_SEGMENT, segnum));
	if (!segusage_is_dirty(&su.su))
		return 0;
	nblocks = le32_get(su.su.su_nblocks);
	if (segusage_is_error(&su.su))
		mode = LOGWALK_SHUT;
	else if (nblocks <= end - start && segnum != w->vol->latest.nextnum)
		mode = LOGWALK_EXACT;
	if (nblocks > end - start)
		nblocks = (uint32_t)(end - start);
	return logwalk_segment(w, cx, segnum, nblocks, mode);
}

/*
 * The summaries with which the segments of a batch begin, of a log that fills
 * its segment: 16 bytes a block and some for each file.
 */
static void read_ahead(const struct crowd *crowd, uint64_t segnum, uint64_t end)
{
	const struct nilfs_geometry *geo = &crowd->c->vol->geo;
	struct ahead ahead = ahead_of(crowd->c->vol);
	uint64_t bytes = (uint64_t)geo->blocks_per_segment * SUMMARY_BYTES;

	for (; segnum < end; segnum++)
		if (bitmap_test(&crowd->c->used_segments, segnum))
			ahead_add(&ahead, geometry_segment_start(geo, segnum),
				  div_round_up(bytes, geo->block_size));
	ahead_end(&ahead);
}

static int check_batch(struct context *cx, void *arg, unsigned int worker,
		       uint64_t job)
{
	struct crowd *crowd = arg;
	const struct bitmap *used = &crowd->c->used_segments;
	uint64_t segnum = crowd->first + job * BATCH_SEGMENTS, end, done;
	int err = 0;

	end = segnum + BATCH_SEGMENTS;
	end = end < crowd->end ? end : crowd->end;
	read_ahead(crowd, segnum, end);
	for (; segnum < end && !err; segnum++) {
		if (bitmap_test(used, segnum))
			err = check_segment(crowd, cx, &crowd->walks[worker],
					    segnum);
	}
	done = __atomic_add_fetch(&crowd->done, BATCH_SEGMENTS,
				  __ATOMIC_RELAXED);
	/* The first worker is the thread that shows progress. */
	if (!worker)
		check_progress(crowd->c, done);
	return err;
}

/* The segments of the present window of claims. */
static int check_window(struct crowd *crowd, struct context *cx)
{
	const struct check *c = crowd->c;
	const struct nilfs_geometry *geo = &c->vol->geo;

	crowd->first = c->claimed_from ?
		geometry_segment_of(geo, c->claimed_from) : 0;
	crowd->end = c->claimed_end < c->claimed.bits ?
		geometry_segment_of(geo, c->claimed_end) : geo->nsegments;
	return pool_run(cx, div_round_up(crowd->end - crowd->first,
					 BATCH_SEGMENTS), check_batch, crowd);
}

static int run_workers(struct crowd *crowd, struct context *cx)
{
	struct check *c = crowd->c;
	unsigned int i, n = pool_workers(cx, div_round_up(
			c->vol->geo.nsegments, BATCH_SEGMENTS));
	int ret = 0;

	crowd->walks = calloc(n, sizeof(*crowd->walks));
	if (!crowd->walks)
		return fail(cx, -ENOMEM, "%u workers", n);
	for (i = 0; i < n && !ret; i++) {
		struct volume *vol = c->vol;

		ret = i ? check_open_again(c, cx, n, &vol) : 0;
		if (!ret)
			logwalk_init(&crowd->walks[i], c, vol,
				     &crowd->sequences);
	}
	if (!ret)
		ret = check_window(crowd, cx);
	while (!ret && (ret = claims_next(c, cx)) > 0)
		ret = check_window(crowd, cx);
	for (i = 0; i < n && crowd->walks[i].vol; i++) {
		logwalk_fini(&crowd->walks[i]);
		if (i)
			volume_close(crowd->walks[i].vol);
	}
	free(crowd->walks);
	return ret;
}

uint64_t pass_logs_work(const struct check *c)
{
	return c->vol->geo.nsegments;
}

int pass_logs(struct check *c, struct context *cx)
{
	uint64_t latest = c->vol->latest.seq;
	uint64_t end = c->dat_broken ? 0 : vblocks_end(c->vol, cx);
	struct crowd crowd = { .c = c };
	size_t i;
	int err;

	err = sparse_init(&crowd.sequences, cx, latest < SEQUENCES_MAX ?
			  latest + 1 : SEQUENCES_MAX);
	if (!err)
		err = bitmap_init(&c->unclaimed_segments, cx,
				  c->vol->geo.nsegments);
	/* For what the logs list of metadata files, and sums for others. */
	for (i = 0; i < CHECK_LISTED && end && !err; i++)
		err = sparse_init(&c->listed[i], cx, end);
	if (!err && end) {
		c->sums = calloc(1, sizeof(*c->sums));
		if (!c->sums)
			err = fail(cx, -ENOMEM, "sums of maps");
	}
	if (!err)
		err = run_workers(&crowd, cx);
	sparse_fini(&crowd.sequences);
	if (!err && !c->dat_broken && c->claimed.bits)
		err = claims_report(c, cx);
	return err;
}
