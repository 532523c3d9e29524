// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning and compacting on zones, under power cuts.
 *
 * The device refuses what breaks the rules of zones.  Wherever the power goes
 * off, files and the snapshot are as before, what is wrong with the zones is
 * repaired by fsck -p, and by cleaning again.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "dev/zoned.h"
#include "fsck_run.h"
#include "gc/clean/clean.h"
#include "gc/compact/compact.h"
#include "gc/compact/defrag.h"
#include "gc_rig.h"
#include "vol/sutable.h"

#include "tap.h"

#define ZONE (32u * 1024)
#define BROKEN 4u

static const struct log_shape shape = {
	.block_size = 1024, .blocks_per_segment = 32, .nsegments = 29,
	.log_blocks = 32, .collect = 8, .threads = 1, .live_blks = true,
	.tail = ZONE,
};

/* The rig's device with zones, which outlives its power. */
struct zoned {
	struct rig r;
	struct zones zones;
	struct dev *disk, *dev;
	struct clean cleaned;		/* what came of clean() */
	struct compact compacted;	/* and of compact() */
};

typedef int job(struct zoned *z, struct dev *dev);

/* How much of the zone at START was written, in bytes. */
static size_t written(const struct rig *r, size_t start)
{
	size_t len = ZONE;

	while (len && !r->before[start + len - 1])
		len--;
	return (len + 1023) / 1024 * 1024;
}

/* As it was, pointers after what is written. */
static void restore(struct zoned *z)
{
	struct context *cx = &z->r.v.cx;
	const char *before = z->r.before;
	size_t start, tail = z->r.size - z->r.shape->tail;

	memset(z->r.bytes, 0, z->r.size);
	dev_zone_change(z->dev, cx, 0, z->r.size, false);
	dev_write(z->dev, cx, 0, before, ZONE);
	if (tail < z->r.size)
		dev_write(z->dev, cx, tail, before + tail, ZONE);
	for (start = ZONE; start < tail; start += ZONE)
		if (written(&z->r, start) &&
		    dev_write(z->dev, cx, start, before + start,
			      written(&z->r, start)))
			printf("Bail out! %s\n", cx->failure);
}

/* Over the rig, which is there; zones of the last BROKEN segments are that. */
static void device_open(struct zoned *z, unsigned int broken)
{
	struct context *cx = &z->r.v.cx;
	const struct log_shape *s = z->r.shape;

	if (zone_make(&z->zones, cx, z->r.size, ZONE, ZONE, 1, s->tail / ZONE))
		printf("Bail out! %s\n", cx->failure);
	while (broken)
		z->zones.kinds[s->nsegments - broken--] = ZONE_UNWRITABLE;
	if (memory_open(&z->disk, cx, z->r.bytes, z->r.size) ||
	    zoned_emulate(&z->dev, cx, z->disk, NULL, &z->zones))
		printf("Bail out! %s\n", cx->failure);
	restore(z);
}

static void device_close(struct zoned *z)
{
	dev_close(z->dev);
	dev_close(z->disk);
	zone_fini(&z->zones);
	rig_close(&z->r);
}

static int clean(struct zoned *z, struct dev *dev)
{
	const struct clean_options o = {
		.policy = policy_find("optimal"),
		.goal = CLEAN_ALL,
		.how.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct context cx;

	context_child(&z->r.v.cx, &cx);
	return clean_run(&z->cleaned, &cx, dev, &o);
}

static int compact(struct zoned *z, struct dev *dev)
{
	const struct compact_options o = {
		.how.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct context cx;

	context_child(&z->r.v.cx, &cx);
	return compact_run(&z->compacted, &cx, dev, &o);
}

static int defrag(struct zoned *z, struct dev *dev)
{
	const struct defrag_options o = {
		.how.batch.time = LOG_VOLUME_TIME + 1,
	};
	struct context cx;
	struct defrag d;
	int ret;

	context_child(&z->r.v.cx, &cx);
	ret = defrag_run(&d, &cx, dev, &o);
	filelist_close(&d.list);
	return ret;
}

/* As session_run(), in MODE. */
static int check(struct zoned *z, enum options_mode mode)
{
	const struct options o = { .mode = mode };

	return fsck_run(&z->r.v.cx, z->dev, &o);
}

/* How many clean segments have a zone that is not empty, or -1. */
static int count_full(struct zoned *z)
{
	struct context *cx = &z->r.v.cx;
	struct nilfs_segment_usage_ext su;
	struct volume *vol;
	struct zone zone;
	int full = 0, ret = volume_open(&vol, cx, z->dev, NULL);
	uint64_t n;

	for (n = 1; n < z->r.shape->nsegments && !ret; n++) {
		ret = sutable_read(vol, cx, n, &su);
		if (!ret)
			ret = dev_zone_report(z->dev, cx, n, &zone, 1);
		full += !ret && segusage_is_clean(&su.su) &&
			zone.pointer != zone.start;
	}
	volume_close(vol);
	return ret ? -1 : full;
}

/* What must be so after every job. */
static void test_settled(struct zoned *z)
{
	uint64_t cno;

	is_int(count_full(z), 0, "clean segments are empty zones");
	ok(rig_holds(&z->r, &cno), "files and snapshot are as before");
	is_int(check(z, OPTIONS_NO), 0, "nothing is wrong afterwards");
}

static void test_clean(struct zoned *z)
{
	const struct clean *c = &z->cleaned;

	restore(z);
	is_int(check(z, OPTIONS_NO), 0, "nothing is wrong before");
	is_int(clean(z, z->dev), 0, "segments that are zones are cleaned");
	ok(c->totals.clean > c->clean_before + 5 && c->totals.moved,
	   "blocks were moved and segments freed");
	test_settled(z);
}

static void test_compact(struct zoned *z)
{
	const struct compact *c = &z->compacted;

	restore(z);
	is_int(compact(z, z->dev), 0, "what lives in zones is compacted");
	ok(c->after.end + 5 < c->before.end && c->after.end == c->after.used,
	   "%u segments at the front are in use, %u before",
	   (unsigned int)c->after.end, (unsigned int)c->before.end);
	test_settled(z);
	is_int(compact(z, z->dev), 0, "once more");
	is_int((int)c->totals.batches, 0, "there is nothing to do");
}

/* A clean zone with something in it, where WHAT has nothing else to do. */
static void test_left(struct zoned *z, job *what, const char *how)
{
	const char block[1024] = "left";
	uint64_t cno, again;

	restore(z);
	compact(z, z->dev);
	what(z, z->dev);
	rig_holds(&z->r, &cno);
	dev_write(z->dev, &z->r.v.cx, (z->r.shape->nsegments - 1) * ZONE,
		  block, sizeof(block));
	is_int(count_full(z), 1, "a zone is not empty");
	is_int(what(z, z->dev), 0, how);
	test_settled(z);
	rig_holds(&z->r, &again);
	ok(again == cno, "no log was written");
}

struct counts {
	unsigned int bad, old, new, left;
};

/* The power went off; AGAIN repairs it, or, NULL, the checker. */
static bool recovers(struct zoned *z, job *again, struct counts *cut)
{
	uint64_t cno;
	int ret;

	if (!rig_holds(&z->r, &cno))
		return false;
	cut->old += cno == RIG_ROUNDS;
	cut->new += cno > RIG_ROUNDS;
	cut->left += count_full(z) > 0;
	ret = again ? again(z, z->dev) : check(z, OPTIONS_AUTO);
	return (!ret || (!again && ret == SESSION_REPAIRED)) &&
	       !count_full(z) && check(z, OPTIONS_NO) == 0 &&
	       rig_holds(&z->r, &cno);
}

static void test_cuts(struct zoned *z, job *what, enum fault_kind kind,
		      job *again, const char *how)
{
	struct fault_plan plan = {
		.kind = kind, .counted = FAULT_WRITES | FAULT_FLUSHES,
		.at = 1, .tear_bytes = 1024,
	};
	struct counts cut = { 0 };
	struct dev *dev;
	bool happened;
	int ret;

	for (;; plan.at++) {
		restore(z);
		fault_open(&dev, &z->r.v.cx, z->dev, &plan);
		ret = what(z, dev);
		happened = fault_happened(dev);
		fault_power_off(dev);
		dev_close(dev);
		if (!happened || plan.at > 1000)
			break;
		if (ret >= 0 || !recovers(z, again, &cut)) {
			printf("# cut %u\n", (unsigned int)plan.at);
			cut.bad++;
		}
	}
	is_int(cut.bad, 0, how);
	ok(cut.old && cut.new && cut.left,
	   "old %u times, new %u times, zones to be emptied %u times",
	   cut.old, cut.new, cut.left);
}

/*
 * Segments cover the device, and of the last FEW, all that are clean, BROKEN
 * ones cannot be taken: the others are enough.
 */
static bool cleans_with(uint64_t few, unsigned int broken)
{
	struct log_shape covering = shape;
	struct zoned z;
	uint64_t cno;
	bool good;

	covering.tail = 0;
	covering.covered = true;
	rig_open_with(&z.r, &covering, few);
	device_open(&z, broken);
	good = !clean(&z, z.dev) && z.cleaned.totals.clean > few + 5 &&
	       rig_holds(&z.r, &cno);
	/* For fsck, a clean segment in a broken zone is something to repair. */
	if (!broken)
		good = good && !count_full(&z) && check(&z, OPTIONS_NO) == 0;
	if (!good)
		printf("# with %u\n", (unsigned int)few);
	device_close(&z);
	return good;
}

static void test_few(unsigned int broken, const char *what)
{
	unsigned int few, bad = 0;

	for (few = broken + 1; few <= broken + 9; few++)
		bad += !cleans_with(few, broken);
	is_int(bad, 0, what);
}

int main(void)
{
	struct zoned z;

	test_few(0, "few clean segments, with the last one");
	test_few(BROKEN, "the same, where some of their zones are broken");
	rig_open(&z.r, &shape);
	device_open(&z, 0);
	test_clean(&z);
	test_cuts(&z, clean, FAULT_CUT, NULL, "cut, then fsck -p");
	test_cuts(&z, clean, FAULT_CUT, clean, "cut, then cleaned again");
	test_cuts(&z, clean, FAULT_TEAR, NULL, "torn, then fsck -p");
	test_cuts(&z, clean, FAULT_TEAR, clean, "torn, then cleaned again");
	test_compact(&z);
	test_left(&z, clean, "cleaning");
	test_left(&z, compact, "compaction");
	test_left(&z, defrag, "defragmentation");
	test_cuts(&z, compact, FAULT_CUT, NULL, "compacting cut, then fsck -p");
	test_cuts(&z, compact, FAULT_CUT, compact, "cut, then compacted again");
	test_cuts(&z, compact, FAULT_TEAR, compact,
		  "torn, then compacted again");
	device_close(&z);
	return tap_done();
}
