// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning, compaction and purging under power cuts, with blocks that cannot be read.
 *
 * Wherever the power goes off, everything on the volume holds together, and the
 * files of the latest state and of a snapshot read as before; doing it
 * again completes what was begun.
 */
#include <stdlib.h>
#include <string.h>

#include "dev/fault.h"
#include "dev/memory.h"
#include "disk/segusage.h"
#include "gc/clean.h"
#include "gc/compact.h"
#include "gc/purge.h"
#include "gc_rig.h"
#include "vol/sutable.h"

#include "tap.h"

static const struct log_shape shape = {
	.block_size = 1024, .blocks_per_segment = 32, .nsegments = 29,
	.log_blocks = 32, .collect = 8, .threads = 1, .live_blks = true,
};

/* What came of it. */
struct done {
	struct batch_totals totals;
	uint64_t clean_before;
	uint64_t left;		/* segments */
};

static int clean(struct done *d, struct context *cx, struct dev *dev)
{
	const struct clean_options o = {
		.policy = policy_find("optimal"),
		.goal = CLEAN_ALL,
		.how.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct clean c;
	int ret = clean_run(&c, cx, dev, &o);

	*d = (struct done){ c.totals, c.clean_before, c.left };
	return ret;
}

static int compact(struct done *d, struct context *cx, struct dev *dev)
{
	const struct compact_options o = {
		.how.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct compact c;
	int ret = compact_run(&c, cx, dev, &o);

	*d = (struct done){ c.totals, c.before.clean, c.left };
	return ret;
}

static int purge(struct done *d, struct context *cx, struct dev *dev)
{
	const struct collector_options how = {
		.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct purge p = { .left = 0 };
	int ret = purge_run(&p, cx, dev, &how);

	*d = (struct done){ p.totals, 0, p.zeroing.skipped };
	return ret;
}

struct job {
	int (*run)(struct done *d, struct context *cx, struct dev *dev);
	struct rig r;
};

struct outcome {
	int ret;
	uint64_t cno;
	struct done done;
	bool happened, good;
};

/* Does J to what is in r.bytes while PLAN is carried out. */
static struct outcome run(struct job *j, const struct fault_plan *plan)
{
	struct rig *r = &j->r;
	struct dev *disk, *dev;
	struct context cx;
	struct outcome o;

	context_child(&r->v.cx, &cx);
	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	fault_open(&dev, &r->v.cx, disk, plan);
	o.ret = j->run(&o.done, &cx, dev);
	o.happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	o.good = rig_holds(r, &o.cno);
	return o;
}

static void test_whole(struct job *j)
{
	struct rig *r = &j->r;
	const struct fault_plan none = { .kind = FAULT_NONE };
	struct outcome o;

	memcpy(r->bytes, r->before, r->size);
	o = run(j, &none);
	ok(!o.ret && o.good, "all files and the snapshot are as before");
	ok(o.done.totals.clean > o.done.clean_before && o.done.totals.moved,
	   "segments are free, blocks were moved");
	o = run(j, &none);
	ok(!o.ret && !o.done.totals.batches, "a second run has nothing to do");
}

static void test_cuts(struct job *j, enum fault_kind kind, bool reorder,
		      const char *how)
{
	struct rig *r = &j->r;
	struct fault_plan plan = {
		.kind = kind, .reorder = reorder,
		.counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	const struct fault_plan none = { .kind = FAULT_NONE };
	unsigned int old = 0, new = 0, bad = 0;
	struct outcome o, again;

	do {
		plan.at++;
		plan.seed = plan.at;
		memcpy(r->bytes, r->before, r->size);
		o = run(j, &plan);
		if (!o.happened)
			break;
		again = run(j, &none);
		bad += o.ret >= 0 || !o.good || again.ret || !again.good;
		old += o.cno == RIG_ROUNDS;
		new += o.cno > RIG_ROUNDS;
	} while (plan.at < 1000);
	is_int(bad, 0, how);
	ok(old && new && old + new == plan.at - 1,
	   "the old state %u times, a new one %u times", old, new);
}

/* Whether the segment of byte OFF of r->bytes is marked as erroneous. */
static bool is_marked(struct rig *r, uint64_t off)
{
	struct nilfs_segment_usage_ext su;
	struct volume *vol = NULL;
	struct dev *disk;
	bool marked;

	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	marked = !volume_open(&vol, &r->v.cx, disk, NULL) &&
		 !sutable_read(vol, &r->v.cx,
			       geometry_segment_of(&r->v.g, off >> 10), &su) &&
		 segusage_is_error(&su.su) && segusage_is_dirty(&su.su);
	volume_close(vol);
	dev_close(disk);
	return marked;
}

/* Each block in turn cannot be read: what is left alone is so, the rest goes. */
static void test_unreadable(struct job *j)
{
	struct rig *r = &j->r;
	struct fault_plan plan = { .kind = FAULT_NONE, .bad_bytes = 1024 };
	unsigned int i, bad = 0, left = 0, marked = 0;
	struct outcome o;

	for (i = 2; i < r->size / 1024 - 4; i++) {
		memcpy(r->bytes, r->before, r->size);
		plan.bad_off = 1024ull * i;
		o = run(j, &plan);
		bad += !o.good;
		left += !o.ret && o.done.left;
		marked += !o.ret && o.done.left &&
			  is_marked(r, plan.bad_off);
	}
	is_int(bad, 0, "with any block unreadable nothing else is lost");
	ok(left, "%u times a segment was left alone", left);
	is_int(marked, left, "and marked as erroneous");
}

static void test_all(struct job *j)
{
	test_whole(j);
	test_cuts(j, FAULT_CUT, false, "cut before each write and flush");
	test_cuts(j, FAULT_CUT, true, "the same, writes reordered");
	test_cuts(j, FAULT_TEAR, false, "torn in each write");
	test_unreadable(j);
}

int main(void)
{
	struct job j;

	rig_open(&j.r, &shape);
	j.run = clean;
	test_all(&j);
	j.run = compact;
	test_all(&j);
	j.run = purge;
	test_all(&j);
	rig_close(&j.r);
	return tap_done();
}
