// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning, compaction and purging under power cuts, and with blocks that
 * cannot be read.
 *
 * Wherever the power goes off, everything on the volume holds together, and the
 * files of the latest state and of a snapshot read as before; doing it
 * again completes what was begun.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "disk/segusage.h"
#include "gc/clean/clean.h"
#include "gc/clean/purge.h"
#include "gc/compact/compact.h"
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
	struct cut cut;
	struct done done;
	char *torn;		/* a device with logs and no super root yet */
};

static const struct fault_plan none = { .kind = FAULT_NONE };

static int run_job(void *arg, struct context *cx, struct dev *dev)
{
	struct job *j = arg;

	return j->run(&j->done, cx, dev);
}

static void test_whole(struct job *j)
{
	struct rig *r = &j->r;
	uint64_t cno;
	int ret;

	memcpy(r->bytes, r->before, r->size);
	ret = cut_run(&j->cut, &none).ret;
	ok(!ret && rig_holds(r, &cno),
	   "all files and the snapshot are as before");
	ok(j->done.totals.clean > j->done.clean_before &&
		   j->done.totals.moved,
	   "segments are free, blocks were moved");
	ret = cut_run(&j->cut, &none).ret;
	ok(!ret && rig_holds(r, &cno) && !j->done.totals.batches,
	   "a second run has nothing to do");
}

/* A device that takes nothing ends the job, with a failure. */
static void test_lasting(struct job *j, enum fault_kind kind, int want)
{
	const struct fault_plan plan = {
		.kind = kind,
		.counted = FAULT_WRITES,
		.at = 1,
	};
	struct rig *r = &j->r;

	memcpy(r->bytes, r->before, r->size);
	is_int(cut_run(&j->cut, &plan).ret, want,
	       kind == FAULT_FULL ? "writes fail" : "writes are lost");
	ok(!memcmp(r->bytes, r->before, r->size), "nothing was written");
}

/* Doing it again completes what was begun. */
static enum cut_state judge(void *arg)
{
	struct job *j = arg;
	uint64_t cno, done;

	if (!rig_holds(&j->r, &cno) || cut_run(&j->cut, &none).ret ||
	    !rig_holds(&j->r, &done))
		return CUT_BAD;
	return cno > RIG_ROUNDS ? CUT_NEW : CUT_OLD;
}

static void show_cuts(const struct cut_counts *c, const char *how)
{
	is_int(c->bad, 0, how);
	ok(c->old && c->new, "the old state %u times, a new one %u times",
	   c->old, c->new);
}

static void test_cuts(struct job *j)
{
	struct cut_counts c[CUT_WAYS];
	unsigned int i;

	cut_all(&j->cut, c);
	for (i = 0; i < CUT_WAYS; i++)
		show_cuts(&c[i], cut_ways[i].how);
}

/* Whether r->bytes has logs that no super root follows. */
static bool is_torn(struct rig *r)
{
	struct volume *vol = NULL;
	struct dev *disk;
	bool torn;

	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	torn = !volume_open(&vol, &r->v.cx, disk, NULL) &&
	       vol->latest.orphans_start;
	volume_close(vol);
	dev_close(disk);
	return torn;
}

/* As judge(), and keeps the first one that is torn. */
static enum cut_state keep_torn(void *arg)
{
	struct job *j = arg;

	if (!j->torn && is_torn(&j->r)) {
		j->torn = malloc(j->r.size);
		memcpy(j->torn, j->r.bytes, j->r.size);
	}
	return judge(arg);
}

/* An interrupted unmount or cleaning is followed by another one. */
static void test_torn(struct job *j)
{
	struct rig *r = &j->r;
	char *before = malloc(r->size);
	struct cut_counts c;

	memcpy(before, r->before, r->size);
	rig_leave_mounted(r);
	j->cut.judge = keep_torn;
	c = cut_each(&j->cut, cut_ways[0].plan);
	show_cuts(&c, cut_ways[0].how);
	j->cut.judge = judge;
	ok(j->torn, "once with logs after the latest checkpoint");
	memcpy(r->before, j->torn ? j->torn : before, r->size);
	test_cuts(j);
	memcpy(r->before, before, r->size);
	free(before);
	free(j->torn);
	j->torn = NULL;
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

/* The sectors that a job reads; to be freed. */
static unsigned char *sectors_read(struct job *j)
{
	struct rig *r = &j->r;
	struct fault_plan plan = {
		.kind = FAULT_NONE, .sectors_read = calloc(1, r->size / 512),
	};

	memcpy(r->bytes, r->before, r->size);
	must(cut_run(&j->cut, &plan).ret);
	return plan.sectors_read;
}

/*
 * No block can be read, in turn: what is left alone is so, the rest goes.  With
 * one that the job does not read it does the same as with none.
 */
static void test_unreadable(struct job *j)
{
	struct rig *r = &j->r;
	struct fault_plan plan = { .kind = FAULT_NONE, .bad_bytes = 1024 };
	unsigned char *read = sectors_read(j);
	unsigned int i, bad = 0, left = 0, marked = 0;
	uint64_t cno;
	int ret;

	for (i = 2; i < r->size / 1024 - 4; i++) {
		if (!read[2 * i] && !read[2 * i + 1])
			continue;
		memcpy(r->bytes, r->before, r->size);
		plan.bad_off = 1024ull * i;
		ret = cut_run(&j->cut, &plan).ret;
		bad += !rig_holds(r, &cno);
		left += !ret && j->done.left;
		marked += !ret && j->done.left && is_marked(r, plan.bad_off);
	}
	free(read);
	is_int(bad, 0, "with any block unreadable nothing else is lost");
	ok(left, "%u times a segment was left alone", left);
	is_int(marked, left, "and marked as erroneous");
}

static void test_all(struct job *j)
{
	test_whole(j);
	test_lasting(j, FAULT_FULL, -ENOSPC);
	test_lasting(j, FAULT_LOSE, -EIO);
	test_cuts(j);
	test_torn(j);
	test_unreadable(j);
}

int main(void)
{
	struct job j = { .torn = NULL };

	rig_open(&j.r, &shape);
	j.cut = rig_cut(&j.r, run_job, judge, &j);
	j.run = clean;
	test_all(&j);
	j.run = compact;
	test_all(&j);
	j.run = purge;
	test_all(&j);
	rig_close(&j.r);
	return tap_done();
}
