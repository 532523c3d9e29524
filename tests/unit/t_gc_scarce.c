// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning with one clean segment, or with none: it is enough, however small
 * segments are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gc/clean/clean.h"
#include "gc_rig.h"

#include "tap.h"

#define MANY 250u

static struct log_shape shape_of(uint32_t block_size, uint32_t segment,
				 uint64_t nsegments)
{
	return (struct log_shape){
		.block_size = block_size, .blocks_per_segment = segment,
		.nsegments = nsegments, .log_blocks = segment, .collect = 8,
		.threads = 1, .live_blks = true,
	};
}

struct job {
	struct rig r;
	struct clean done;
};

static const struct fault_plan none = { .kind = FAULT_NONE };

static int clean(void *arg, struct context *cx, struct dev *dev)
{
	const struct clean_options o = {
		.policy = policy_find("optimal"),
		.goal = CLEAN_ALL,
		.how.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct job *j = arg;

	return clean_run(&j->done, cx, dev, &o);
}

static enum cut_state judge(void *arg)
{
	struct job *j = arg;
	uint64_t cno;

	if (!rig_holds(&j->r, &cno))
		return CUT_BAD;
	return cno > RIG_ROUNDS ? CUT_NEW : CUT_OLD;
}

static void test_one(uint32_t block_size, uint32_t segment)
{
	struct log_shape shape = shape_of(block_size, segment, MANY);
	struct job j;
	struct cut_counts c;
	struct cut cut;
	uint64_t cno;

	rig_open_with(&j.r, &shape, 1);
	cut = rig_cut(&j.r, clean, judge, &j);
	ok(!cut_run(&cut, &none).ret, "segments of %u blocks of %u bytes",
	   segment, block_size);
	ok(rig_holds(&j.r, &cno), "files and snapshot are as before");
	ok(j.done.totals.clean > 1 + shape.nsegments / 4, "%u of %u are clean",
	   (unsigned int)j.done.totals.clean, (unsigned int)shape.nsegments);
	is_int(cut_run(&cut, &none).ret, 0, "once more");
	is_int((int)j.done.totals.batches, 0, "there is nothing to do");
	c = cut_each(&cut, cut_ways[0].plan);
	is_int(c.bad, 0, cut_ways[0].how);
	ok(c.old && c.new, "old %u times, new %u times", c.old, c.new);
	rig_close(&j.r);
}

/* No segment is clean, but nothing lives in many: the log takes some of these. */
static void test_none(unsigned int block_size, unsigned int segment)
{
	struct log_shape shape = shape_of(block_size, segment, MANY);
	struct job j;
	struct cut_counts c;
	struct cut cut;
	uint64_t cno;

	rig_open_with(&j.r, &shape, 0);
	cut = rig_cut(&j.r, clean, judge, &j);
	is_int(cut_run(&cut, &none).ret, 0, "no clean segment");
	ok(rig_holds(&j.r, &cno), "files and snapshot are as before");
	ok(j.done.totals.clean > shape.nsegments / 4, "%u of %u are clean",
	   (unsigned int)j.done.totals.clean, (unsigned int)shape.nsegments);
	is_int(cut_run(&cut, &none).ret, 0, "once more");
	is_int((int)j.done.totals.batches, 0, "there is nothing to do");
	c = cut_each(&cut, cut_ways[0].plan);
	is_int(c.bad, 0, cut_ways[0].how);
	ok(c.old && c.new, "old %u times, new %u times", c.old, c.new);
	rig_close(&j.r);
}

int main(void)
{
	test_one(1024, 16);
	test_one(1024, 32);
	test_one(1024, 64);
	test_one(4096, 16);
	test_one(4096, 64);
	test_none(1024, 16);
	test_none(1024, 32);
	test_none(4096, 16);
	return tap_done();
}
