// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Volumes that become smaller and larger, under power cuts.
 *
 * Wherever the power goes off, the volume has the old size or the new one, by
 * the rules by which a mount chooses a superblock; fsck.nilfs2 finds nothing,
 * and the files of the latest state and of a snapshot read as before.  Another
 * run completes what was begun.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fsck_run.h"
#include "gc/resize/grow.h"
#include "gc/resize/shrink.h"
#include "gc_rig.h"

#include "tap.h"

#define ROUNDS 26u	/* checkpoints */

/* The SUFILE of so many segments has several blocks, of which some must go. */
static const struct log_shape shapes[] = {
	{ .block_size = 1024, .blocks_per_segment = 32, .nsegments = 200,
	  .log_blocks = 32, .collect = 8, .threads = 1, .live_blks = true },
	{ .block_size = 1024, .blocks_per_segment = 16, .nsegments = 150,
	  .log_blocks = 16, .collect = 8, .threads = 1 },
};

struct sized {
	struct rig r;
	struct cut cut;
	bool grows;
	uint64_t segments;	/* that the volume has before */
	uint64_t aimed;		/* that the run came to */
};

static const struct fault_plan none = { .kind = FAULT_NONE };

static int change_size(void *arg, struct context *cx, struct dev *dev)
{
	const struct grow_options all = { .time = LOG_VOLUME_TIME + 1 };
	const struct shrink_options least = {
		.clean = {
			.policy = policy_find("optimal"),
			.how.batch.time = LOG_VOLUME_TIME + 1,
		},
	};
	struct sized *s = arg;
	struct shrink shrunk;
	struct grow grown;
	int ret;

	dev->is_block_device = true;	/* it keeps its size */
	if (s->grows) {
		ret = grow_run(&grown, cx, dev, &all);
		s->aimed = grown.segments;
	} else {
		ret = shrink_run(&shrunk, cx, dev, &least);
		s->aimed = shrunk.segments;
	}
	return ret;
}

struct judged {
	struct sized *s;
	uint64_t segments;	/* 0: it did not come to that */
};

static bool is_sound(void *arg, struct volume *vol, struct dev *dev)
{
	const struct options no = { .mode = OPTIONS_NO, .force = true };
	struct judged *j = arg;

	j->segments = vol->geo.nsegments;
	/* A device that has become larger has no second superblock at first. */
	if (j->s->grows && j->segments == j->s->segments)
		return true;
	return !fsck_run(&j->s->r.v.cx, dev, &no);
}

/* Whether what is on the SIZE bytes is as it should be. */
static bool holds(struct sized *s, size_t size, uint64_t *segments)
{
	struct judged j = { .s = s };
	bool good = rig_holds_also(&s->r, size, is_sound, &j);

	*segments = good ? j.segments : 0;
	return good;
}

/* Also on a device that is cut after the volume. */
static bool holds_short(struct sized *s, uint64_t segments)
{
	const struct rig *r = &s->r;
	uint64_t got;

	return holds(s, segments * r->shape->blocks_per_segment *
				r->shape->block_size + 4096, &got) &&
	       got == segments;
}

static void test_whole(struct sized *s)
{
	struct rig *r = &s->r;
	char *copy = malloc(r->size);
	uint64_t segments;
	int ret;

	memcpy(r->bytes, r->before, r->size);
	ret = cut_run(&s->cut, &none).ret;
	ok(!ret && holds(s, r->size, &segments) && segments == s->aimed,
	   "%llu segments, all files and the snapshot are as before",
	   (unsigned long long)s->aimed);
	ok(s->grows ? s->aimed > s->segments : s->aimed < s->segments / 2,
	   "there were %llu", (unsigned long long)s->segments);
	ok(holds_short(s, s->aimed), "a device of that size has room for it");
	memcpy(copy, r->bytes, r->size);
	ret = cut_run(&s->cut, &none).ret;
	ok(!ret && !memcmp(copy, r->bytes, r->size),
	   "a second run has nothing to do");
	free(copy);
}

/* A device that takes nothing ends the job, with a failure. */
static void test_lasting(struct sized *s, enum fault_kind kind, int want)
{
	const struct fault_plan plan = {
		.kind = kind,
		.counted = FAULT_WRITES,
		.at = 1,
	};
	struct rig *r = &s->r;

	memcpy(r->bytes, r->before, r->size);
	is_int(cut_run(&s->cut, &plan).ret, want,
	       kind == FAULT_FULL ? "writes fail" : "writes are lost");
	ok(!memcmp(r->bytes, r->before, r->size), "nothing was written");
}

/* Another run completes what was begun. */
static enum cut_state judge(void *arg)
{
	struct sized *s = arg;
	size_t size = s->r.size;
	uint64_t left, completed;

	if (!holds(s, size, &left) || cut_run(&s->cut, &none).ret ||
	    !holds(s, size, &completed) || completed == s->segments)
		return CUT_BAD;
	return left == s->segments ? CUT_OLD : CUT_NEW;
}

static void test_cuts(struct sized *s)
{
	struct cut_counts c[CUT_WAYS];
	unsigned int i;

	cut_all(&s->cut, c);
	for (i = 0; i < CUT_WAYS; i++) {
		is_int(c[i].bad, 0, cut_ways[i].how);
		ok(c[i].old && c[i].new,
		   "the old size %u times, the new one %u times", c[i].old,
		   c[i].new);
	}
}

/* With room for MORE segments after the volume, unmounted or not. */
static void test(const struct log_shape *shape, uint64_t more, bool mounted)
{
	struct sized s = { .segments = shape->nsegments, .grows = more };

	rig_open_larger(&s.r, shape, ROUNDS, more);
	if (mounted)
		rig_leave_mounted(&s.r);
	s.cut = rig_cut(&s.r, change_size, judge, &s);
	test_whole(&s);
	test_lasting(&s, FAULT_FULL, -ENOSPC);
	if (!more)
		test_lasting(&s, FAULT_LOSE, -EIO);
	test_cuts(&s);
	rig_close(&s.r);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		test(&shapes[i], 0, false);
		test(&shapes[i], 77, false);
		test(&shapes[i], 77, true);
	}
	return tap_done();
}
