// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The overlay over a device with zones.  The device underneath is the emulated
 * one, which refuses whatever breaks the rules of zones.
 */
#include "dev/overlay.h"

#include <errno.h>
#include <string.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "dev/zoned.h"

#include "tap.h"

#define ZONE 65536u
#define CAPACITY 40960u
#define ZONES 8u
#define BYTES (ZONE * ZONES)

static unsigned char medium[BYTES], shown[BYTES], then[BYTES];
static unsigned char buf[ZONE];

/* Zone 0 is conventional, the others are sequential and empty. */
struct rig {
	struct context cx;
	struct zones zones;
	struct dev *memory, *zoned, *fault, *overlay;
};

static void rig_open(struct rig *r, const struct fault_plan *plan)
{
	static const struct fault_plan none;

	memset(medium, 0, sizeof(medium));
	context_init(&r->cx);
	zone_make(&r->zones, &r->cx, BYTES, ZONE, CAPACITY, 1, 0);
	memory_open(&r->memory, &r->cx, medium, BYTES);
	zoned_emulate(&r->zoned, &r->cx, r->memory, NULL, &r->zones);
	dev_zone_change(r->zoned, &r->cx, 0, BYTES, false);
	fault_open(&r->fault, &r->cx, r->zoned, plan ? plan : &none);
	overlay_open(&r->overlay, &r->cx, r->fault, false);
}

static void rig_close(struct rig *r)
{
	dev_close(r->overlay);
	dev_close(r->fault);
	dev_close(r->zoned);
	dev_close(r->memory);
	zone_fini(&r->zones);
}

static uint64_t pointer_of(struct rig *r, struct dev *dev, uint64_t n)
{
	struct zone zone = { .pointer = UINT64_MAX };

	dev_zone_report(dev, &r->cx, n, &zone, 1);
	return zone.pointer - (n ? n * ZONE : 0);
}

/* Writes LEN bytes C to DEV in zone N at byte AT of it. */
static int put(struct rig *r, struct dev *dev, uint64_t n, uint64_t at,
	       size_t len, char c)
{
	memset(buf, c, len);
	return dev_write(dev, &r->cx, n * ZONE + at, buf, len);
}

static void test_rules(void)
{
	struct rig r;

	rig_open(&r, NULL);
	put(&r, r.zoned, 2, 0, 4096, 'a');
	is_int(put(&r, r.overlay, 2, 0, 1024, 'b'), -EIO, "written before");
	is_int(put(&r, r.overlay, 2, 8192, 1024, 'b'), -EIO, "a gap");
	is_int(put(&r, r.overlay, 2, 4096, 512, 'b'), -EINVAL, "half a page");
	is_int(put(&r, r.overlay, 2, 4096, CAPACITY, 'b'), -EIO,
	       "past the capacity");
	is_int(put(&r, r.overlay, 2, 4096, 2048, 'b'), 0, "at the pointer");
	is_int(pointer_of(&r, r.overlay, 2), 6144, "which moves on");
	is_int(pointer_of(&r, r.zoned, 2), 4096, "in the overlay");
	is_int(put(&r, r.overlay, 0, 100, 300, 'c'), 0, "conventional: any");
	is_int(dev_zone_change(r.overlay, &r.cx, 2 * ZONE, ZONE, true), 0, "finish");
	is_int(put(&r, r.overlay, 2, 6144, 1024, 'b'), -EIO, "a full zone");
	is_int(dev_zone_change(r.overlay, &r.cx, 2 * ZONE, ZONE, false), 0, "reset");
	dev_read(r.overlay, &r.cx, 2 * ZONE, shown, ZONE);
	memset(buf, 0, ZONE);
	ok(!memcmp(shown, buf, ZONE), "and nothing is in it any more");
	ok(medium[2 * ZONE] == 'a', "but on the device");
	is_int(put(&r, r.overlay, 2, 0, 1024, 'd'), 0, "a new beginning");
	is_int(overlay_commit_last(r.overlay, &r.cx, NULL, 0), 0, "commit");
	ok(medium[2 * ZONE] == 'd' && !medium[2 * ZONE + 1024] &&
	   medium[100] == 'c', "the device has it");
	is_int(pointer_of(&r, r.zoned, 2), 1024, "and the pointer");
	rig_close(&r);
}

/* One random thing; few of them are refused. */
static void do_something(struct rig *r, uint32_t x)
{
	uint64_t n = (x >> 8) % ZONES, at = pointer_of(r, r->overlay, n);
	size_t len = 1024 * (1 + (x >> 12) % 30);

	switch (n ? (x >> 24) % 16 : 0) {
	case 0:
		put(r, r->overlay, 0, 1 + (x >> 12) % 9000, 700, (char)x);
		break;
	case 1:
		dev_zone_change(r->overlay, &r->cx, n * ZONE, ZONE, false);
		break;
	case 2:
		overlay_reset_last(r->overlay, &r->cx, n);
		break;
	case 3:
		dev_zone_change(r->overlay, &r->cx, n * ZONE, ZONE, true);
		break;
	case 4:
		dev_flush(r->overlay, &r->cx);
		break;
	default:
		put(r, r->overlay, n, at, len, (char)(x >> 3));
		break;
	}
}

static void snap(struct rig *r, struct dev *dev, unsigned char *bytes,
		 uint64_t pointers[ZONES])
{
	uint64_t n;

	dev_read(dev, &r->cx, 0, bytes, BYTES);
	for (n = 0; n < ZONES; n++)
		pointers[n] = pointer_of(r, dev, n);
}

/*
 * Whatever is done, the device has in the end what the overlay showed, and a
 * rewind brings back what was shown at the mark.
 */
static void test_random(bool last)
{
	uint64_t pointers[ZONES], marked[ZONES], n;
	unsigned int i, round, wrong = 0, refused = 0;
	const uint64_t late = 0;
	size_t mark = 0;
	uint32_t x = 9;
	struct rig r;

	for (round = 0; round < 60; round++) {
		rig_open(&r, NULL);
		for (n = 1; n < ZONES; n++)
			put(&r, r.zoned, n, 0, 1024 * n, (char)('0' + n));
		mark = overlay_mark(r.overlay);
		snap(&r, r.overlay, then, marked);
		for (i = 0; i < 90; i++) {
			x = x * 1103515245 + 12345;
			do_something(&r, x);
			if (i == 40) {
				mark = overlay_mark(r.overlay);
				snap(&r, r.overlay, then, marked);
			}
			if (i != 60)
				continue;
			overlay_rewind(r.overlay, mark);
			snap(&r, r.overlay, shown, pointers);
			wrong += memcmp(shown, then, BYTES) != 0;
			wrong += memcmp(pointers, marked, sizeof(marked)) != 0;
		}
		snap(&r, r.overlay, shown, pointers);
		refused += overlay_commit_last(r.overlay, &r.cx, &late,
					       last) != 0;
		wrong += memcmp(shown, medium, BYTES) != 0;
		snap(&r, r.zoned, shown, marked);
		wrong += memcmp(pointers, marked, sizeof(marked)) != 0;
		wrong += overlay_is_changed(r.overlay);
		rig_close(&r);
	}
	is_int(refused, 0, "a commit breaks no rule of zones");
	is_int(wrong, 0, "and brings what was shown, rewinds included");
}

/* What the old state needs is in zone 1, what the new one needs in zone 2. */
static int old_or_new(void)
{
	switch (medium[0]) {
	case 'o':
		return medium[ZONE] == 'x' ? 1 : 0;
	case 'n':
		return medium[2 * ZONE] == 'y' &&
				       medium[2 * ZONE + 1024] == 'z' ? 2 : 0;
	default:
		return 0;
	}
}

static int rewrite(struct rig *r)
{
	const uint64_t late = 0;

	overlay_reset_last(r->overlay, &r->cx, 1);
	dev_zone_change(r->overlay, &r->cx, 2 * ZONE, ZONE, false);
	dev_zone_change(r->overlay, &r->cx, 3 * ZONE, ZONE, false);
	dev_zone_change(r->overlay, &r->cx, 4 * ZONE, ZONE, true);
	put(r, r->overlay, 2, 0, 1024, 'y');
	put(r, r->overlay, 0, 0, 1, 'n');
	put(r, r->overlay, 2, 1024, 4096, 'z');
	return overlay_commit_last(r->overlay, &r->cx, &late, 1);
}

/* Cut at every write, flush and change of zones. */
static void test_order(void)
{
	struct fault_plan plan = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	unsigned int cuts = 0, broken = 0, late = 0, states = 0;
	struct rig r;
	int ret, state;

	do {
		plan.at = ++cuts;
		rig_open(&r, &plan);
		put(&r, r.zoned, 0, 0, 1, 'o');
		put(&r, r.zoned, 1, 0, 2048, 'x');
		put(&r, r.zoned, 2, 0, 2048, 'w');
		put(&r, r.zoned, 3, 0, 2048, 'w');
		put(&r, r.zoned, 4, 0, 2048, 'w');
		ret = rewrite(&r);
		state = old_or_new();
		broken += !state;
		states |= (unsigned int)state;
		late += state == 2 && pointer_of(&r, r.zoned, 3) != 0;
		if (!ret)
			ok(!medium[ZONE] && !pointer_of(&r, r.zoned, 1) &&
			   pointer_of(&r, r.zoned, 4) == CAPACITY,
			   "in the end the zones are as they shall be");
		rig_close(&r);
	} while (ret && cuts < 100);
	is_int(broken, 0, "an interrupted commit is the old state or the new");
	is_int(late, 0, "which finds zones empty that were reset early");
	is_int(states, 3, "both were seen");
}

int main(void)
{
	test_rules();
	test_random(false);
	test_random(true);
	test_order();
	return tap_done();
}
