// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs: what is refused, and how a size becomes segments.  The figures are
 * those of mkfs.nilfs2 of nilfs-utils 2.2.9 for the same sizes.
 */
#include <errno.h>

#include "disk/ondisk.h"
#include "disk/reserve.h"
#include "mkfs/plan/plan.h"

#include "tap.h"

static struct context cx;

static int make(const struct mkfs_options *o, uint64_t size, struct plan *plan)
{
	struct plan_facts facts = {
		.name = "device", .size = size, .sector_size = 512,
		.now = 1000,
	};

	context_init(&cx);
	return plan_make(&cx, o, &facts, plan);
}

static void test_sizes(void)
{
	static const struct {
		uint64_t size, block_size;
		uint32_t per_segment;
		uint64_t nsegments;	/* 0: refused */
	} cases[] = {
		{ 134221823, 4096, 2048, 0 },
		{ 134221824, 4096, 2048, 16 },
		{ 134225919, 4096, 2048, 16 },
		{ 134225920, 4096, 2048, 16 },
		{ 268435455, 4096, 2048, 31 },
		{ 268435456, 4096, 2048, 31 },
		{ 268439551, 4096, 2048, 31 },
		{ 268439552, 4096, 2048, 32 },
		{ 1048576, 1024, 16, 63 },
		{ 1052671, 1024, 16, 63 },
		{ 1052672, 1024, 16, 64 },
		{ 67108864, 4096, 64, 255 },
		{ 15ULL << 40, 4096, 2048, 1966079 },
		{ 0, 4096, 2048, 0 },
		{ 1, 1024, 16, 0 },
		{ UINT64_MAX, 4096, 2048, 0 },
	};
	struct mkfs_options o = options_defaults;
	struct plan plan;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret;

		o.block_size = cases[i].block_size;
		o.blocks_per_segment = cases[i].per_segment;
		ret = make(&o, cases[i].size, &plan);
		if (!cases[i].nsegments) {
			is_int(ret, -EINVAL, "a size is refused");
			continue;
		}
		is_int(ret, 0, "a size is accepted");
		is_int(plan.g.nsegments, cases[i].nsegments, "its segments");
	}
}

/* The definition, and the two figures of the peer around its border. */
static void test_reserved(void)
{
	struct mkfs_options o = options_defaults;
	struct plan plan;
	uint32_t percent;
	bool good = true;

	for (percent = 1; percent <= 99; percent++) {
		uint64_t n = 16;

		while (n - (n * percent + 99) / 100 < 8)
			n++;
		good = good && reserve_min_segments(percent) == n;
	}
	ok(good, "the least number of segments for each percentage");
	o.block_size = 1024;
	o.blocks_per_segment = 16;
	o.reserved = 80;
	is_int(make(&o, 1 << 20, &plan), 0, "63 segments do for 80 percent");
	o.reserved = 89;
	is_int(make(&o, 1 << 20, &plan), -EINVAL, "but not for 89");
	o.reserved = 0;
	is_int(make(&o, 1 << 30, &plan), -EINVAL, "0 percent");
	o.reserved = 100;
	is_int(make(&o, 1 << 30, &plan), -EINVAL, "100 percent");
}

static void test_least_device(void)
{
	struct mkfs_options o = options_defaults;
	uint64_t size;
	struct plan plan;

	o.reserved = 95;
	is_int(make(&o, 1ULL << 40, &plan), 0, "a large device");
	size = plan_min_size(&plan.g, reserve_min_segments(95));
	is_int(make(&o, size, &plan), 0, "the least size is enough");
	is_int(make(&o, size - 1, &plan), -EINVAL, "one byte less is not");
}

static void test_numbers(void)
{
	static const uint64_t blocks[] = { 0, 512, 3000, 131072, UINT64_MAX };
	static const uint32_t per_segment[] = { 0, 8, 17, UINT32_MAX };
	struct mkfs_options o = options_defaults;
	struct plan_facts facts = {
		.name = "device", .size = 1 << 30, .sector_size = 4096,
	};
	struct plan plan;
	size_t i;

	for (i = 0; i < 5; i++) {
		o.block_size = blocks[i];
		is_int(make(&o, 1ULL << 40, &plan), -EINVAL, "a block size");
	}
	o.block_size = 2048;
	is_int(plan_make(&cx, &o, &facts, &plan), -EINVAL,
	       "a block smaller than a sector");
	o = options_defaults;
	for (i = 0; i < 4; i++) {
		o.blocks_per_segment = per_segment[i];
		is_int(make(&o, 1ULL << 40, &plan), -EINVAL, "a segment size");
	}
	o.blocks_per_segment = 1u << 31;
	o.block_size = 65536;
	o.reserved = 99;
	is_int(make(&o, 1ULL << 50, &plan), -EINVAL,
	       "the largest segments: nothing overflows");
}

static void test_names(void)
{
	char label[82];
	struct mkfs_options o = options_defaults;
	struct plan plan;

	memset(label, 'x', 81);
	label[81] = '\0';
	o.label = label;
	is_int(make(&o, 1 << 30, &plan), -EINVAL, "a label of 81 bytes");
	o.label++;
	is_int(make(&o, 1 << 30, &plan), 0, "one of 80");
	ok(!memcmp(plan.label, label, 80), "is kept whole");
	o.created = -5;
	is_int(make(&o, 1 << 30, &plan), -EINVAL, "a time before 1970");
	o.created = 0;
	is_int(make(&o, 1 << 30, &plan), 0, "the beginning of 1970");
	is_int(plan.ctime, 0, "is not taken for \"now\"");
}

static uint64_t features_of(const char *list, int want)
{
	struct mkfs_options o = options_defaults;
	struct plan plan;

	o.features = list;
	is_int(make(&o, 1 << 30, &plan), want, list ? list : "no -O");
	return plan.features.compat << 32 | plan.features.compat_ro;
}

static void test_features(void)
{
	is_int(features_of(NULL, 0), 1, "block_count by default");
	is_int(features_of("", 0), 1, "an empty list changes nothing");
	is_int(features_of("none", 0), 0, "none");
	is_int(features_of("^block_count", 0), 0, "without");
	is_int(features_of("none,block_count", 0), 1, "from left to right");
	is_int(features_of("sufile_live_blks_ext", 0), 1ULL << 32 | 1, "both");
	features_of("track_live_blks", -EINVAL);
	features_of("foo", -EINVAL);
	features_of("^none", -EINVAL);
	features_of("block_count,foo", -EINVAL);
	features_of("0123456789012345678901234567890123456789"
		    "0123456789012345678901234567890123456789", -EINVAL);
}

static uint32_t seed_of(int64_t time, uint8_t last)
{
	struct mkfs_options o = options_defaults;
	struct plan_facts facts = {
		.name = "device", .size = 1 << 30, .sector_size = 512,
		.now = time,
		.uuid = { [15] = last },
	};
	struct plan plan;

	plan_make(&cx, &o, &facts, &plan);
	return plan.g.crc_seed;
}

static void test_seed(void)
{
	ok(seed_of(5, 6) == seed_of(5, 6), "same time and UUID: same seed");
	ok(seed_of(5, 6) != seed_of(6, 6), "another time: another seed");
	ok(seed_of(5, 6) != seed_of(5, 7), "another UUID: another seed");
}

int main(void)
{
	test_sizes();
	test_reserved();
	test_least_device();
	test_numbers();
	test_names();
	test_features();
	test_seed();
	return tap_done();
}
