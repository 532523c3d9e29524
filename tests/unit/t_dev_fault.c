// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices that fail on purpose, and the overlay under such failures. */
#include "dev/fault.h"
#include "dev/memory.h"
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

/* The overlay against a copy of what it should show. */
static void test_overlay_random(size_t size, bool commit, bool last)
{
	unsigned char disk_bytes[SIZE], model[SIZE], before[SIZE], got[3000];
	struct dev *disk, *dev;
	const uint64_t late[] = { size - 1, 1024 };
	unsigned int i, wrong = 0;
	struct context cx;
	uint32_t x = 11;

	context_init(&cx);
	for (i = 0; i < size; i++)
		disk_bytes[i] = (unsigned char)(i * 31 >> 4);
	memcpy(model, disk_bytes, size);
	memcpy(before, disk_bytes, size);
	memory_open(&disk, &cx, disk_bytes, size);
	is_int(overlay_open(&dev, &cx, disk), 0, "an overlay");
	for (i = 0; i < 2000; i++) {
		size_t off, len;

		x = x * 1103515245 + 12345;
		off = (x >> 8) % size;
		len = (x >> 3) % sizeof(got);
		if (len > size - off)
			len = size - off;
		if (x >> 28 == 0)
			dev_flush(dev, &cx);
		if (x >> 30 == 1) {
			memset(got, (int)i, len);
			memset(model + off, (int)i, len);
			wrong += dev_write(dev, &cx, off, got, len) != 0;
		}
		wrong += dev_read(dev, &cx, off, got, len) != 0;
		wrong += memcmp(got, model + off, len) != 0;
	}
	is_int(wrong, 0, "shows what was written over what was there");
	is_int(memcmp(disk_bytes, before, size), 0,
	       "and the disk is as it was");
	ok(overlay_bytes(dev) >= size, "all was written at least once");
	if (last)
		is_int(overlay_commit_last(dev, &cx, late, 2), 0,
		       "commit of the last state");
	else if (commit)
		is_int(overlay_commit(dev, &cx), 0, "commit");
	else
		overlay_drop(dev);
	is_int(memcmp(disk_bytes, commit ? model : before, size), 0,
	       commit ? "brings it to the disk" : "dropping forgets it");
	is_int(overlay_bytes(dev), 0, "and leaves nothing to commit");
	is_int(dev_read(dev, &cx, 100, got, 1000), 0, "the overlay then");
	ok(!memcmp(got, disk_bytes + 100, 1000), "shows the disk");
	dev_close(dev);
	dev_close(disk);
}

/*
 * Payload, flush, pointer to it, flush, twice, over one pointer.  At whatever
 * write the commit is cut, the pointer must name payload that is there.
 */
static void test_overlay_order(bool last)
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
		overlay_open(&overlay, &r.cx, r.dev);
		for (i = 0; i < 2; i++) {
			char buf[1500];

			/* Both payloads have a share of the page at 8192. */
			memset(buf, payload[i], sizeof(buf));
			dev_write(overlay, &r.cx, 7200 + 1500 * i, buf, 1500);
			dev_flush(overlay, &r.cx);
			dev_write(overlay, &r.cx, 0, &payload[i], 1);
			dev_flush(overlay, &r.cx);
		}
		done = !(last ? overlay_commit_last(overlay, &r.cx, &late, 1) :
				overlay_commit(overlay, &r.cx));
		wrong += done == (overlay_bytes(overlay) != 0);
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
	is_int(states, last ? 5 : 7, last ? "and never one on the way" :
	       "the old, the middle and the new one were seen");
	if (!last)
		is_int(cuts, 9, "at 4 writes and 4 flushes");
}

/* Each byte that was written is in one range; the others are in none. */
static void test_overlay_ranges(void)
{
	static unsigned char bytes[SIZE];
	uint64_t off, sum = 0;
	struct dev *disk, *dev;
	struct context cx;
	size_t cursor = 0, len;
	unsigned int n;

	context_init(&cx);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk);
	ok(!overlay_next_range(dev, &cursor, &off, &len), "no ranges yet");
	for (n = 0; n < 3; n++) {
		dev_write(dev, &cx, 4096, "xyz", 3);
		dev_write(dev, &cx, 8192, bytes, 3000);
		dev_flush(dev, &cx);
	}
	for (n = 0; overlay_next_range(dev, &cursor, &off, &len); n++)
		sum += off ^ len;
	is_int(n, 2, "two ranges, however often they were written");
	is_int(sum, (4096 ^ 1024) + (8192 ^ 3072), "in whole pages");
	dev_close(dev);
	dev_close(disk);
}

/* Whatever is written after a mark, a rewind shows what was there then. */
static void test_overlay_rewind(void)
{
	static unsigned char bytes[SIZE], model[SIZE], got[SIZE];
	struct dev *disk, *dev;
	struct context cx;
	unsigned int i, wrong = 0;
	uint32_t x = 5;
	size_t mark = 0;

	context_init(&cx);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk);
	for (i = 0; i < 600; i++) {
		x = x * 1103515245 + 12345;
		if (i % 30 == 0) {
			overlay_rewind(dev, mark);
			dev_read(dev, &cx, 0, got, SIZE);
			wrong += memcmp(got, model, SIZE) != 0;
		}
		memset(got, (int)i, 2000);
		dev_write(dev, &cx, (x >> 8) % (SIZE - 2000), got, 2000);
		if (i % 30 == 9) {
			mark = overlay_mark(dev);
			dev_read(dev, &cx, 0, model, SIZE);
		}
	}
	is_int(wrong, 0, "a rewind brings back what was there at the mark");
	overlay_rewind(dev, mark);
	is_int(overlay_commit(dev, &cx), 0, "which can be committed");
	ok(!memcmp(bytes, model, SIZE), "and is what is on the device then");
	dev_close(dev);
	dev_close(disk);
}

static void test_overlay_limits(void)
{
	struct dev *disk, *dev;
	struct context cx;
	char buf[4096] = {0};

	context_init(&cx);
	cx.max_memory = 4096;
	memory_open_const(&disk, &cx, buf, sizeof(buf));
	overlay_open(&dev, &cx, disk);
	is_int(dev_write(dev, &cx, 0, buf, 4096), 0, "as much as the budget");
	is_int(dev_write(dev, &cx, 100, buf, 100), 0, "the same place again");
	dev_flush(dev, &cx);
	is_int(dev_write(dev, &cx, 100, buf, 100), -ENOMEM,
	       "a second version past the budget");
	is_int(overlay_commit(dev, &cx), -EROFS,
	       "a read-only device takes no commit");
	is_int(overlay_bytes(dev), 4096, "and the overlay keeps its bytes");
	dev_close(dev);
	dev_close(disk);
}

int main(void)
{
	test_fail();
	test_cut();
	test_reorder();
	test_overlay_random(SIZE, true, false);
	test_overlay_random(SIZE - 300, true, false);
	test_overlay_random(SIZE, true, true);
	test_overlay_random(SIZE - 300, true, true);
	test_overlay_random(SIZE, false, false);
	test_overlay_order(false);
	test_overlay_order(true);
	test_overlay_ranges();
	test_overlay_rewind();
	test_overlay_limits();
	return tap_done();
}
