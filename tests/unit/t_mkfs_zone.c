// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts on zones.  The definition of a good one is what the kernel does: it
 * writes a segment from its beginning on, leaves its end unwritten at times,
 * never writes to a segment with the error flag, and ignores a second
 * superblock whose place is inside the segments.
 */
#include <errno.h>

#include "disk/super.h"
#include "log/writer.h"
#include "mkfs/plan/plan.h"
#include "mkfs/plan/options.h"

#include "tap.h"

#define MIB (UINT64_C(1) << 20)

static struct context cx;

static int make(const struct mkfs_options *o, const struct zones *zones,
		struct plan *plan)
{
	struct plan_facts facts = {
		.name = "device", .sector_size = 512, .now = 1000,
		.size = (zones->count - 1) * zones->size + zones->last_size,
		.zones = zones,
	};

	context_init(&cx);
	return plan_make(&cx, o, &facts, plan);
}

/* COUNT zones of 8 MiB, HEAD and TAIL of them conventional. */
static struct zones zones_of(uint64_t count, uint64_t capacity, uint64_t head,
			     uint64_t tail)
{
	struct zones zones;

	context_init(&cx);
	is_int(zone_make(&zones, &cx, count * 8 * MIB, 8 * MIB, capacity, head,
			 tail), 0, "zones");
	return zones;
}

/*
 * What holds for every layout: a segment in use lies in one zone, from its
 * beginning on and within its capacity, unless the zone is conventional; and
 * no two of them share a sequential one.
 */
static bool is_sound(const struct plan *plan)
{
	const struct zones *zones = plan->zoned.zones;
	uint64_t segment = (uint64_t)plan->g.blocks_per_segment *
			   plan->g.block_size;
	uint64_t segnum, unusable = 0;

	for (segnum = 0; segnum < plan->g.nsegments; segnum++) {
		uint64_t off = segnum * segment;
		struct zone zone = zone_at(zones, off / zones->size);

		if (zoneplan_unusable(plan, segnum)) {
			unusable++;
			continue;
		}
		if (off + segment > zone.start + zone.capacity ||
		    zone.kind == ZONE_UNWRITABLE ||
		    (zone.kind == ZONE_SEQUENTIAL && off != zone.start))
			return false;
	}
	return unusable == plan->zoned.unusable && !zoneplan_unusable(plan, 0);
}

/* Whether the kernel would ignore the second superblock: its own condition. */
static bool is_super2_ignored(const struct plan *plan)
{
	uint64_t segment = (uint64_t)plan->g.blocks_per_segment *
			   plan->g.block_size;

	return super_offset2(plan->size) < plan->g.nsegments * segment;
}

static void test_recipes(void)
{
	struct mkfs_options o = options_defaults;
	struct zones a = zones_of(32, 8 * MIB, 1, 0);
	struct zones b = zones_of(32, 8 * MIB, 2, 2);
	struct plan plan;

	o.blocks_per_segment = 2048;
	is_int(make(&o, &a, &plan), 0, "the last zone is sequential");
	ok(is_sound(&plan), "sound");
	is_int(plan.g.nsegments * plan.g.blocks_per_segment * 4096,
	       plan.size, "segments reach to the very end");
	ok(is_super2_ignored(&plan), "the kernel ignores superblock 2");
	is_int(plan.super2, 0, "which is not written");
	is_int(plan.zoned.lost, 0, "nothing is lost");
	is_str(zoneplan_recipe(&plan), "A", "that is recipe A");

	is_int(make(&o, &b, &plan), 0, "the last zone is conventional");
	ok(is_sound(&plan), "sound");
	is_int(plan.g.nsegments, 31, "all but the last zone are segments");
	ok(!is_super2_ignored(&plan), "the kernel uses superblock 2");
	is_int(plan.super2, plan.size - 4096, "which is written");
	is_str(zoneplan_recipe(&plan), "B", "that is recipe B");
	zone_fini(&a);
	zone_fini(&b);
}

/* Each capacity there can be, with each block size. */
static void test_capacities(void)
{
	struct mkfs_options o = options_defaults;
	uint64_t capacity, usable;
	bool good = true;
	int n = 0;

	for (o.block_size = 1024; o.block_size <= 65536; o.block_size *= 2) {
		for (capacity = MIB; capacity <= 8 * MIB; capacity += MIB / 2) {
			struct zones zones;
			struct plan plan;
			uint64_t segment;

			zone_make(&zones, &cx, 24 * 8 * MIB, 8 * MIB, capacity,
				  1, n & 1);
			if (!make(&o, &zones, &plan)) {
				segment = (uint64_t)o.block_size *
					  plan.g.blocks_per_segment;
				usable = plan.g.nsegments -
					 plan.zoned.unusable;
				good = good && is_sound(&plan) &&
				       segment <= capacity &&
				       segment > capacity / 2 &&
				       usable >= 23 &&
				       is_super2_ignored(&plan) == !plan.super2;
				n++;
			}
			zone_fini(&zones);
		}
	}
	ok(good, "sound with any capacity");
	is_int(n, 7 * 15, "each is accepted");
}

static void test_lost(void)
{
	struct mkfs_options o = options_defaults;
	struct zones zones = zones_of(32, 5 * MIB, 1, 1);
	struct plan plan;

	is_int(make(&o, &zones, &plan), 0, "zones of 8 MiB that hold 5");
	is_int(plan.g.blocks_per_segment, 1024, "segments of 4 MiB");
	is_int(plan.g.nsegments, 63, "of which two are conventional zone 0");
	is_int(plan.zoned.unusable, 30, "one in each sequential zone is not");
	is_int(plan.zoned.lost, 30 * MIB, "a MiB of each is lost");
	zone_fini(&zones);
}

static void test_dead_zones(void)
{
	struct mkfs_options o = options_defaults;
	struct zones zones = zones_of(32, 8 * MIB, 1, 0);
	struct plan plan;

	zones.kinds[1] = ZONE_UNWRITABLE;
	zones.kinds[2] = ZONE_UNWRITABLE;
	zones.kinds[31] = ZONE_UNWRITABLE;
	is_int(make(&o, &zones, &plan), 0, "some zones are offline");
	ok(is_sound(&plan), "sound");
	is_int(plan.zoned.unusable, 3, "their segments are not used");
	ok(is_super2_ignored(&plan), "recipe A");
	zone_fini(&zones);
}

static void refuses(const struct mkfs_options *o, const struct zones *zones,
		    const char *reason)
{
	struct plan plan;

	is_int(make(o, zones, &plan), -EINVAL, "refused");
	ok(strstr(cx.failure, reason), "because: %s", cx.failure);
}

static void test_refusals(void)
{
	struct mkfs_options o = options_defaults;
	struct zones zones = zones_of(32, 8 * MIB, 0, 4);
	struct plan plan;

	refuses(&o, &zones, "first zone is not conventional");
	zone_fini(&zones);
	zones = zones_of(32, 8 * MIB, 1, 0);
	zones.kinds[0] = ZONE_UNWRITABLE;
	refuses(&o, &zones, "first zone is not conventional");
	zones.kinds[0] = ZONE_CONVENTIONAL;
	zones.last_size = MIB;
	refuses(&o, &zones, "shorter");
	zones.kinds[31] = ZONE_CONVENTIONAL;
	is_int(make(&o, &zones, &plan), 0, "short, but conventional: well");
	ok(is_sound(&plan) && plan.g.nsegments == 31, "sound");
	zones.kinds[31] = ZONE_SEQUENTIAL;
	zones.last_size = zones.size;

	zones.max_open = 1;
	refuses(&o, &zones, "open at a time");
	zones.max_open = 0;
	zones.max_active = 1;
	o.force = true;
	refuses(&o, &zones, "active at a time");
	o.force = false;
	zones.max_active = 30;
	refuses(&o, &zones, "30 of its 31 sequential zones");
	zones.max_active = 31;
	is_int(make(&o, &zones, &plan), 0, "all can be active");
	zones.max_active = 4;
	o.force = true;
	is_int(make(&o, &zones, &plan), 0, "forced");
	o = options_defaults;
	zones.max_active = 0;

	o.check = 2;
	refuses(&o, &zones, "--check");
	o.check = 1;
	is_int(make(&o, &zones, &plan), 0, "reading is allowed");
	o.blocks_per_segment = 1024;
	refuses(&o, &zones, "--blocks-per-segment");
	o = options_defaults;
	zones.capacity = 60 * 1024;
	refuses(&o, &zones, "16 blocks");
	zone_fini(&zones);
	zones = zones_of(15, 8 * MIB, 1, 0);
	refuses(&o, &zones, "16 are needed");
	zone_fini(&zones);
	zones = zones_of(16, 8 * MIB, 1, 1);
	refuses(&o, &zones, "16 are needed");
	zone_fini(&zones);
	zones = zones_of(16, 8 * MIB, 1, 0);
	is_int(make(&o, &zones, &plan), 0, "16 zones are enough");
	zone_fini(&zones);
}

static void test_writer(void)
{
	struct mkfs_options o = options_defaults;
	struct zones zones = zones_of(32, 5 * MIB, 1, 0);
	struct writer_options wo = { 0 };
	struct plan plan;

	make(&o, &zones, &plan);
	zoneplan_writer(&plan, &wo);
	ok(wo.sequential, "logs are written in order");
	is_int(wo.log_blocks, 1024, "and hold 4 MiB at most");
	ok(!wo.unusable(wo.arg, 2) && wo.unusable(wo.arg, 3),
	   "a writer knows what not to use");
	memset(&plan, 0, sizeof(plan));
	memset(&wo, 0, sizeof(wo));
	zoneplan_writer(&plan, &wo);
	ok(!wo.sequential && !wo.log_blocks && !wo.unusable,
	   "without zones nothing changes");
	zone_fini(&zones);
}

static void test_ends(void)
{
	static const struct {
		const char *text;
		int want;
		uint64_t head, tail;
	} cases[] = {
		{ "1", 0, 1, 0 },
		{ "0+3", 0, 0, 3 },
		{ "4194304+1", 0, 4194304, 1 },
		{ "4194305", -EINVAL },
		{ "", -EINVAL },
		{ "+1", -EINVAL },
		{ "1+", -EINVAL },
		{ "1+2+3", -EINVAL },
		{ "-1", -EINVAL },
		{ "000000000000000000000000000001", -EINVAL },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zone_ends ends = { 0 };

		is_int(options_zone_ends(&cx, cases[i].text, &ends),
		       cases[i].want, cases[i].text);
		if (!cases[i].want)
			ok(ends.head == cases[i].head &&
			   ends.tail == cases[i].tail, "are these numbers");
	}
}

int main(void)
{
	context_init(&cx);
	test_recipes();
	test_capacities();
	test_lost();
	test_dead_zones();
	test_refusals();
	test_writer();
	test_ends();
	return tap_done();
}
