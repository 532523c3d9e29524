// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices that fail on purpose, and the overlay under such failures. */
#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "dev/overlay.h"

#include <errno.h>

#include "tap.h"

#define SIZE 65536

struct rig {
	unsigned char bytes[SIZE];
	struct context cx;
	struct dev *disk, *dev;
};

static void rig_open(struct rig *r, const struct fault_plan *plan)
{
	memset(r->bytes, 'o', SIZE);
	context_init(&r->cx);
	memory_open(&r->disk, &r->cx, r->bytes, SIZE);
	fault_open(&r->dev, &r->cx, r->disk, plan);
}

static void rig_close(struct rig *r)
{
	dev_close(r->dev);
	dev_close(r->disk);
}

static int put(struct rig *r, uint64_t off, char c, size_t len)
{
	char buf[8192];

	memset(buf, c, len);
	return dev_write(r->dev, &r->cx, off, buf, len);
}

static bool holds(const struct rig *r, size_t off, char c, size_t len)
{
	while (len && r->bytes[off] == (unsigned char)c) {
		off++;
		len--;
	}
	return !len;
}

static void test_fail(void)
{
	struct fault_plan plan = {
		.kind = FAULT_FAIL, .at = 2, .counted = FAULT_WRITES};
	struct rig r;
	char c;

	rig_open(&r, &plan);
	is_int(put(&r, 0, 'a', 10), 0, "the first write");
	is_int(dev_read(r.dev, &r.cx, 0, &c, 1), 0, "a read is not counted");
	is_int(put(&r, 0, 'b', 10), -EIO, "the second write fails");
	ok(fault_happened(r.dev), "as planned");
	ok(holds(&r, 0, 'a', 10), "and does nothing");
	is_int(put(&r, 0, 'c', 10), 0, "the third succeeds");
	is_int(fault_counted(r.dev), 3, "three were counted");
	rig_close(&r);

	plan.counted = FAULT_READS | FAULT_FLUSHES;
	rig_open(&r, &plan);
	is_int(dev_flush(r.dev, &r.cx), 0, "a flush");
	is_int(put(&r, 0, 'a', 10), 0, "a write is not counted");
	is_int(dev_read(r.dev, &r.cx, 0, &c, 1), -EIO, "a read fails");
	rig_close(&r);
}

static void test_cut(void)
{
	struct fault_plan plan = {
		.kind = FAULT_CUT, .at = 2, .counted = FAULT_WRITES};
	struct rig r;
	char c;

	rig_open(&r, &plan);
	put(&r, 0, 'a', 1000);
	is_int(put(&r, 1000, 'b', 1000), -EIO, "power goes off");
	is_int(put(&r, 2000, 'c', 1000), -EIO, "and stays off for writes");
	is_int(dev_read(r.dev, &r.cx, 0, &c, 1), -EIO, "reads");
	is_int(dev_flush(r.dev, &r.cx), -EIO, "and flushes");
	ok(strstr(r.cx.failure, "power"), "the text says so");
	ok(holds(&r, 0, 'a', 1000) && holds(&r, 1000, 'o', 2000),
	   "the disk has what was written before");
	rig_close(&r);

	plan.kind = FAULT_TEAR;
	plan.tear_bytes = 300;
	rig_open(&r, &plan);
	put(&r, 0, 'a', 1000);
	is_int(put(&r, 1000, 'b', 1000), -EIO, "a write is torn");
	ok(holds(&r, 1000, 'b', 300) && holds(&r, 1300, 'o', 700),
	   "after the bytes planned");
	is_int(put(&r, 0, 'c', 1), -EIO, "and power is off");
	rig_close(&r);
}

/* Writes A, flush, B and C: which of them the disk has after a cut. */
static unsigned int outcome(uint64_t seed, bool end)
{
	struct fault_plan plan = {.reorder = true, .seed = seed};
	unsigned int seen;
	struct rig r;
	char c[3];

	rig_open(&r, &plan);
	put(&r, 0, 'A', 512);
	dev_flush(r.dev, &r.cx);
	put(&r, 512, 'B', 512);
	put(&r, 100, 'C', 3);
	put(&r, 1024, 'D', 1024);
	dev_read(r.dev, &r.cx, 99, c, 3);
	if (memcmp(c, "ACC", 3) || !holds(&r, 512, 'o', 1536))
		return 1000;
	if (end) {
		rig_close(&r);
		return holds(&r, 512, 'B', 512) && holds(&r, 100, 'C', 3) &&
		       holds(&r, 1024, 'D', 1024);
	}
	fault_power_off(r.dev);
	rig_close(&r);
	if (!holds(&r, 0, 'A', 100) || !holds(&r, 103, 'A', 409))
		return 1001;
	seen = holds(&r, 512, 'B', 512) | holds(&r, 100, 'C', 3) << 1 |
	       holds(&r, 1024, 'D', 512) << 2 | holds(&r, 1536, 'D', 512) << 3;
	return seen;
}

/* Of a write of many sectors all, none and some must be possible. */
static void test_large_write(void)
{
	struct fault_plan plan = {.reorder = true};
	unsigned int all = 0, none = 0;
	struct rig r;

	for (plan.seed = 0; plan.seed < 100; plan.seed++) {
		rig_open(&r, &plan);
		put(&r, 0, 'L', 8192);
		fault_power_off(r.dev);
		rig_close(&r);
		all += holds(&r, 0, 'L', 8192);
		none += holds(&r, 0, 'o', 8192);
	}
	ok(all > 10 && none > 10 && all + none < 90,
	   "a large write survives whole, not at all or in parts");
}

static void test_reorder(void)
{
	unsigned int i, seen, states[16] = {0}, wrong = 0, missing = 0;

	for (i = 0; i < 1000; i++) {
		seen = outcome(i, false);
		wrong += seen > 15 || seen != outcome(i, false);
		if (seen < 16)
			states[seen]++;
	}
	for (i = 0; i < 16; i++)
		missing += !states[i];
	is_int(wrong, 0,
	       "flushed writes stay, reads see kept ones, and a "
	       "seed gives one outcome");
	is_int(missing, 0, "every subset of the unflushed sectors occurs");
	test_large_write();
	is_int(outcome(1, true), 1, "closing with the power on loses nothing");
}

/*
 * Payload, flush, pointer to it, flush, twice, over one pointer.  At whatever
 * write the commit is cut, the pointer must name payload that is there.
 */
static void test_overlay_order(void)
{
	const uint64_t late = 0;
	struct fault_plan plan = {.kind = FAULT_CUT,
				  .reorder = true,
				  .counted = FAULT_WRITES | FAULT_FLUSHES};
	unsigned int cuts = 0, wrong = 0, states = 0;
	struct dev *overlay;
	struct rig r;
	bool done;

	do {
		static const char payload[2] = {'p', 'q'};
		unsigned int i;

		plan.at = ++cuts;
		plan.seed = cuts;
		rig_open(&r, &plan);
		overlay_open(&overlay, &r.cx, r.dev, false);
		for (i = 0; i < 2; i++) {
			char buf[1500];

			/* Both payloads have a share of the page at 8192. */
			memset(buf, payload[i], sizeof(buf));
			dev_write(overlay, &r.cx, 7200 + 1500 * i, buf, 1500);
			dev_flush(overlay, &r.cx);
			dev_write(overlay, &r.cx, 0, &payload[i], 1);
			dev_flush(overlay, &r.cx);
		}
		done = !overlay_commit_last(overlay, &r.cx, &late, 1);
		wrong += done == overlay_is_changed(overlay);
		dev_close(overlay);
		if (done)
			fault_power_off(r.dev);
		wrong += r.bytes[0] == 'p' && !holds(&r, 7200, 'p', 1500);
		wrong += r.bytes[0] == 'q' && !(holds(&r, 7200, 'p', 1500) &&
						holds(&r, 8700, 'q', 1500));
		states |= r.bytes[0] == 'o' ? 1 : r.bytes[0] == 'p' ? 2 : 4;
		wrong += done && r.bytes[0] != 'q';
		rig_close(&r);
	} while (!done && cuts < 100);
	is_int(wrong, 0, "an interrupted commit is a state of the writer's");
	is_int(states, 5, "and never one on the way");
}

static void test_bad_place(void)
{
	struct fault_plan plan = { .bad_off = 1024, .bad_bytes = 512 };
	char buf[4096];
	struct rig r;

	rig_open(&r, &plan);
	is_int(dev_read(r.dev, &r.cx, 0, buf, 1024), 0, "before the bad place");
	is_int(dev_read(r.dev, &r.cx, 1536, buf, 512), 0, "after it");
	is_int(dev_read(r.dev, &r.cx, 0, buf, 1025), -EIO, "a byte of it");
	is_int(dev_read(r.dev, &r.cx, 1535, buf, 100), -EIO, "its last byte");
	is_int(put(&r, 1024, 'a', 511), 0, "a write to a part");
	is_int(dev_read(r.dev, &r.cx, 1024, buf, 1), -EIO, "heals nothing");
	is_int(fault_bad_reads(r.dev), 3, "three reads have failed");
	is_int(put(&r, 512, 'a', 2048), 0, "a write to all of it");
	is_int(dev_read(r.dev, &r.cx, 1024, buf, 512), 0, "heals it");
	rig_close(&r);
}

/* What the device remembers of reads that failed. */
static void test_failed_ranges(void)
{
	struct fault_plan plan = { .bad_off = 1024, .bad_bytes = 4096 };
	const struct dev_stats *s;
	char buf[4096];
	struct rig r;

	rig_open(&r, &plan);
	s = &r.dev->stats;
	dev_read(r.dev, &r.cx, 0, buf, 1024);
	is_int(s->nfailed, 0, "none yet");
	dev_read(r.dev, &r.cx, 1000, buf, 100);
	dev_read(r.dev, &r.cx, 1050, buf, 100);
	is_int(s->nfailed, 1, "two that overlap are one range");
	ok(s->failed[0].off == 1000 && s->failed[0].end == 1150, "of both");
	dev_read(r.dev, &r.cx, 4096, buf, 512);
	is_int(s->nfailed, 2, "another one");
	ok(s->failed[1].off == 4096 && s->failed[1].end == 4608, "elsewhere");
	is_int(s->failed_reads, 3, "each is counted");
	rig_close(&r);
}

int main(void)
{
	test_bad_place();
	test_failed_ranges();
	test_fail();
	test_cut();
	test_reorder();
	test_overlay_order();
	return tap_done();
}
