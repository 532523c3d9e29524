// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning with one clean segment: it is enough, however small segments are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/fault.h"
#include "dev/memory.h"
#include "gc/clean.h"
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

/* Opens R, with CLEAN clean segments. */
static void open_with(struct rig *r, struct log_shape *shape, uint64_t clean)
{
	rig_open(r, shape);
	while (r->v.end.clean_segments != clean) {
		shape->nsegments += clean - r->v.end.clean_segments;
		rig_close(r);
		rig_open(r, shape);
	}
	memcpy(r->bytes, r->before, r->size);
}

static int clean(struct rig *r, const struct fault_plan *plan, bool *happened,
		 struct clean *c)
{
	const struct clean_options o = {
		.policy = policy_find("optimal"),
		.goal = CLEAN_ALL,
		.how.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct dev *disk, *dev;
	struct context cx;
	int ret;

	context_child(&r->v.cx, &cx);
	memory_open(&disk, &cx, r->bytes, r->size);
	fault_open(&dev, &cx, disk, plan);
	ret = clean_run(c, &cx, dev, &o);
	*happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	return ret;
}

static void test_one(uint32_t block_size, uint32_t segment)
{
	struct log_shape shape = shape_of(block_size, segment, MANY);
	struct fault_plan plan = { .kind = FAULT_NONE };
	unsigned int bad = 0, cuts = 0;
	struct clean c, again;
	struct rig r;
	bool happened;
	uint64_t cno;

	open_with(&r, &shape, 1);
	ok(!clean(&r, &plan, &happened, &c),
	   "segments of %u blocks of %u bytes", segment, block_size);
	ok(rig_holds(&r, &cno), "files and snapshot are as before");
	ok(c.totals.clean > 1 + shape.nsegments / 4, "%u of %u are clean",
	   (unsigned int)c.totals.clean, (unsigned int)shape.nsegments);
	is_int(clean(&r, &plan, &happened, &again), 0, "once more");
	is_int((int)again.totals.batches, 0, "there is nothing to do");
	plan = (struct fault_plan){
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	do {
		plan.at++;
		memcpy(r.bytes, r.before, r.size);
		clean(&r, &plan, &happened, &c);
		bad += !rig_holds(&r, &cno);
	} while (happened && cuts++ < 1000);
	is_int(bad, 0, "cut at each write and flush");
	rig_close(&r);
}

/* All of what is left is wanted by the log: nothing can be done, and is. */
static void test_none(void)
{
	struct log_shape shape = shape_of(1024, 16, MANY);
	const struct fault_plan none = { .kind = FAULT_NONE };
	struct clean c;
	struct rig r;
	bool happened;
	int ret;

	open_with(&r, &shape, 0);
	ret = clean(&r, &none, &happened, &c);
	ok(ret ? ret == -ENOSPC && !memcmp(r.bytes, r.before, r.size) :
		 c.totals.clean > 0,
	   "no clean segment: told, or enough behind the log");
	rig_close(&r);
}

int main(void)
{
	test_one(1024, 16);
	test_one(1024, 32);
	test_one(1024, 64);
	test_one(4096, 16);
	test_one(4096, 64);
	test_none();
	return tap_done();
}
