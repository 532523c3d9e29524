// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning under power cuts, with blocks that cannot be read, with little room.
 *
 * Wherever the power goes off, everything on the volume holds together, and the
 * files of the latest state and of a snapshot read as before; cleaning it again
 * completes what was begun.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/fault.h"
#include "dev/memory.h"
#include "gc/clean.h"
#include "log_volume.h"
#include "vol/sutable.h"

#include "tap.h"

#define FILES 6u
#define ROUNDS 14u
#define SNAPSHOT 1u

static const struct log_shape shape = {
	.block_size = 1024, .blocks_per_segment = 32, .nsegments = 29,
	.log_blocks = 32, .collect = 8, .threads = 1, .live_blks = true,
};

struct rig {
	struct log_volume v;
	struct log_file kept[FILES];	/* as the snapshot has them */
	char *before, *bytes;	/* the device; and to be worked on */
	size_t size;
	unsigned int left;	/* segments left alone by the last run */
};

/* One more checkpoint: all files, or others instead of most of them. */
static int layer(struct rig *r, struct writer *w, unsigned int round)
{
	const struct newfile_run run = { 0, 3 + round };
	unsigned int i;
	int ret = 0;

	for (i = 0; i < FILES && !ret; i++) {
		if (!round)
			ret = log_volume_place(&r->v, w,
					       log_volume_add(&r->v, &run, 1));
		else if (i % 3)
			ret = log_volume_replace(&r->v, w, &r->v.files[i],
						 &run, 1);
	}
	return ret ? ret : log_volume_place_root(&r->v, w, round);
}

static int add_checkpoint(struct rig *r, unsigned int round)
{
	struct writer_options o = log_volume_options(&shape);
	struct context *cx = &r->v.cx;
	struct volume *vol = NULL;
	struct writer *w = NULL;
	int ret;

	o.snapshot = !round;
	if (!round) {
		ret = writer_create(&w, cx, r->v.dev, &r->v.g, &o);
	} else {
		ret = volume_open(&vol, cx, r->v.dev, NULL);
		if (!ret)
			ret = writer_open(&w, cx, vol, &o);
	}
	if (!ret)
		ret = layer(r, w, round);
	if (!ret)
		ret = writer_commit(w, cx, &r->v.end);
	writer_close(w);
	volume_close(vol);
	return ret ? ret : log_volume_write_super(&r->v);
}

static void rig_open(struct rig *r)
{
	unsigned int i;
	int ret = 0;

	memset(r, 0, sizeof(*r));
	log_volume_init(&r->v, &shape);
	for (i = 0; i < ROUNDS && !ret; i++) {
		ret = add_checkpoint(r, i);
		if (!i)
			memcpy(r->kept, r->v.files, sizeof(r->kept));
	}
	if (ret)
		printf("Bail out! %s\n", r->v.cx.failure);
	r->size = r->v.dev->size;
	r->before = malloc(r->size);
	r->bytes = malloc(r->size);
	dev_read(r->v.dev, &r->v.cx, 0, r->before, r->size);
}

static void rig_close(struct rig *r)
{
	free(r->before);
	free(r->bytes);
	log_volume_fini(&r->v);
}

static int clean(struct rig *r, struct dev *dev, struct clean *c)
{
	const struct clean_options o = {
		.policy = policy_find("optimal"),
		.goal = CLEAN_ALL,
		.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct context cx;
	int ret;

	context_child(&r->v.cx, &cx);
	ret = clean_run(c, &cx, dev, &o);
	r->left = (unsigned int)c->left;
	return ret;
}

/* Whether all of r->bytes is as it should be; *CNO is the latest checkpoint. */
static bool holds(struct rig *r, uint64_t *cno)
{
	struct dev *disk, *first = r->v.dev;
	struct volume *vol = NULL;
	unsigned int i;
	bool good;

	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	r->v.dev = disk;	/* where the content of files is compared */
	good = !volume_open(&vol, &r->v.cx, disk, NULL) &&
	       log_audit(&r->v.cx, vol) &&
	       sutable_is_exact(vol, &r->v.cx) == 1;
	for (i = 0; i < FILES && good; i++)
		good = log_volume_reads(&r->v, vol, 0, &r->v.files[i], NULL) &&
		       log_volume_reads(&r->v, vol, SNAPSHOT, &r->kept[i],
					NULL);
	*cno = good ? vol->latest.cno : 0;
	volume_close(vol);
	dev_close(disk);
	r->v.dev = first;
	return good;
}

struct outcome {
	int ret;
	uint64_t cno;
	struct clean clean;
	bool happened, good;
};

/* Cleans what is in r->bytes while PLAN is carried out. */
static struct outcome run(struct rig *r, const struct fault_plan *plan)
{
	struct dev *disk, *dev;
	struct outcome o;

	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	fault_open(&dev, &r->v.cx, disk, plan);
	o.ret = clean(r, dev, &o.clean);
	o.happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	o.good = holds(r, &o.cno);
	return o;
}

static void test_whole(struct rig *r)
{
	const struct fault_plan none = { .kind = FAULT_NONE };
	struct outcome o;

	memcpy(r->bytes, r->before, r->size);
	o = run(r, &none);
	ok(!o.ret && o.good, "all files and the snapshot are as before");
	ok(o.clean.totals.clean > o.clean.clean_before && o.clean.totals.moved,
	   "segments are free, blocks were moved");
	o = run(r, &none);
	ok(!o.ret && !o.clean.totals.batches, "a second run has nothing to do");
}

static void test_cuts(struct rig *r, enum fault_kind kind, bool reorder,
		      const char *how)
{
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
		o = run(r, &plan);
		if (!o.happened)
			break;
		again = run(r, &none);
		bad += o.ret >= 0 || !o.good || again.ret || !again.good;
		old += o.cno == ROUNDS;
		new += o.cno > ROUNDS;
	} while (plan.at < 1000);
	is_int(bad, 0, how);
	ok(old && new && old + new == plan.at - 1,
	   "the old state %u times, a new one %u times", old, new);
}

/* Each block in turn cannot be read: what is left alone is so, the rest goes. */
static void test_unreadable(struct rig *r)
{
	struct fault_plan plan = { .kind = FAULT_NONE, .bad_bytes = 1024 };
	unsigned int i, bad = 0, left = 0;
	struct outcome o;

	for (i = 2; i < r->size / 1024 - 4; i++) {
		memcpy(r->bytes, r->before, r->size);
		plan.bad_off = 1024ull * i;
		o = run(r, &plan);
		bad += !o.good;
		left += !o.ret && o.clean.left;
	}
	is_int(bad, 0, "with any block unreadable nothing else is lost");
	ok(left, "%u times a segment was left alone", left);
}

int main(void)
{
	struct rig r;

	rig_open(&r);
	test_whole(&r);
	test_cuts(&r, FAULT_CUT, false, "cut before each write and flush");
	test_cuts(&r, FAULT_CUT, true, "the same, writes reordered");
	test_cuts(&r, FAULT_TEAR, false, "torn in each write");
	test_unreadable(&r);
	rig_close(&r);
	return tap_done();
}
