// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policies: what comes first, and that the default moves the fewest blocks that
 * can be moved, by trying all the others.
 */
#include <string.h>

#include "gc/plan/policy.h"

#include "tap.h"

#define BLOCKS 64u
#define FEW 12u
#define MANY 300u

static uint64_t state = 1;

static uint32_t chance(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static void fill(struct policy_segment *s, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		s[i] = (struct policy_segment){
			.segnum = 3 * i + 1,
			.lastmod = 1000 + chance(5000),
			.blocks = BLOCKS,
			.written = BLOCKS,
			.live = chance(BLOCKS + 1),
		};
}

/* Segments gained by K victims with LIVE blocks. */
static int gained(unsigned int k, uint32_t live)
{
	return (int)k - (int)((live + BLOCKS - 1) / BLOCKS);
}

/* Blocks moved by the policy until WANT segments are gained; -1: never. */
static int moved_by(const char *name, const struct policy_segment *s,
		    unsigned int n, int want, uint64_t max_search)
{
	const struct policy_env env = {
		.nongc_ctime = 10000, .max_search = max_search,
	};
	struct policy_order order;
	uint32_t live = 0;
	unsigned int k = 0;
	int64_t i;

	policy_open(&order, policy_find(name), &env, s, n);
	while (gained(k, live) < want && (i = policy_next(&order, 0)) >= 0) {
		live += s[i].live;
		k++;
	}
	policy_close(&order);
	return gained(k, live) < want ? -1 : (int)live;
}

/* The least that any set of victims does. */
static int least(const struct policy_segment *s, unsigned int n, int want)
{
	unsigned int set, i, k;
	uint32_t live;
	int best = -1;

	for (set = 0; set < 1u << n; set++) {
		for (i = k = live = 0; i < n; i++) {
			k += set >> i & 1;
			live += set >> i & 1 ? s[i].live : 0;
		}
		if (gained(k, live) >= want && (best < 0 || (int)live < best))
			best = (int)live;
	}
	return best;
}

static void test_least(void)
{
	struct policy_segment s[FEW];
	int round, want, wrong = 0, tried = 0;

	for (round = 0; round < 60; round++) {
		fill(s, FEW);
		for (want = 1; want < (int)FEW; want++, tried++)
			wrong += moved_by("optimal", s, FEW, want, 0) !=
				 least(s, FEW, want);
	}
	ok(!wrong, "optimal moves the least of all sets, %d times", tried);
}

/*
 * As moved_by() the default, in batches of which each fits into the segments that
 * are clean when it begins, ROOM at first: in *BATCHES how many.
 */
static int moved_in_batches(const struct policy_segment *s, unsigned int n,
			    int want, int room, int *batches)
{
	const struct policy_env env = { .nongc_ctime = 10000 };
	struct policy_order order;
	unsigned int k = 0;
	uint32_t live = 0;
	int all = 0, got = 0;
	int64_t i;

	*batches = 1;
	policy_open(&order, policy_find("optimal"), &env, s, n);
	while (got + gained(k, live) < want &&
	       (i = policy_next(&order, 0)) >= 0) {
		if (live + s[i].live > (unsigned int)(room + got) * BLOCKS) {
			got += gained(k, live);
			++*batches;
			k = live = 0;
		}
		live += s[i].live;
		all += (int)s[i].live;
		k++;
	}
	policy_close(&order);
	return got + gained(k, live) < want ? -1 : all;
}

/* Each batch but the last may leave a segment that is not full. */
static void test_batches(void)
{
	struct policy_segment s[FEW];
	int round, want, room, moved, most, batches, wrong = 0, several = 0;

	for (round = 0; round < 60; round++) {
		fill(s, FEW);
		for (want = 1; want < (int)FEW; want++) {
			room = 1 + (int)chance(3);
			moved = moved_in_batches(s, FEW, want, room, &batches);
			most = least(s, FEW, want + batches - 1);
			several += batches > 1 && most >= 0;
			wrong += most >= 0 && (moved < 0 || moved > most);
		}
	}
	ok(!wrong && several, "nor in batches more than what frees a segment "
	   "more for each further batch, %d times", several);
}

static void test_never_more(void)
{
	struct policy_segment s[MANY];
	int round, want, best, other, more = 0;
	size_t i;

	for (round = 0; round < 10; round++) {
		fill(s, MANY);
		for (want = 1; want < 100; want += 7) {
			best = moved_by("optimal", s, MANY, want, 0);
			for (i = 0; i < policy_count; i++) {
				other = moved_by(policy_list[i].name, s, MANY,
						 want, round % 2 * 20);
				more += other < best;
			}
		}
	}
	is_int(more, 0, "and no policy moves less");
}

/* All indices, in the order of the policy. */
static void order_of(const char *name, const struct policy_env *env,
		     const struct policy_segment *s, unsigned int n,
		     uint64_t clean, char *text)
{
	struct policy_order order;
	int64_t i;

	policy_open(&order, policy_find(name), env, s, n);
	while ((i = policy_next(&order, clean)) >= 0)
		*text++ = (char)('a' + i);
	*text = '\0';
	policy_close(&order);
}

static void test_orders(void)
{
	/* b is oldest, c has most dead blocks, d the fewest to be moved. */
	const struct policy_segment s[] = {
		{ .segnum = 1, .lastmod = 900, .blocks = 64, .written = 64,
		  .live = 60 },
		{ .segnum = 2, .lastmod = 100, .blocks = 64, .written = 64,
		  .live = 50 },
		{ .segnum = 5, .lastmod = 800, .blocks = 64, .written = 64,
		  .live = 20, .metadata = 20 },
		{ .segnum = 9, .lastmod = 990, .blocks = 64, .written = 20,
		  .live = 10 },
	};
	struct policy_env env = { .nongc_ctime = 1000 };
	char text[8];

	order_of("timestamp", &env, s, 4, 0, text);
	is_str(text, "bcad", "timestamp: the oldest");
	order_of("greedy", &env, s, 4, 0, text);
	is_str(text, "cbda", "greedy: the most dead blocks");
	order_of("optimal", &env, s, 4, 0, text);
	is_str(text, "dcba", "optimal: the fewest live ones");
	/* (1000-lastmod)*1000*dead/(2*live): 3333, 126000, 220000, 5000 */
	order_of("cost-benefit", &env, s, 4, 0, text);
	is_str(text, "cbda", "cost-benefit, as published for NILFS2");
	/* 100*4/124, 900*14/114, 200*44/84, 10*54/74: 3, 110, 104, 7 */
	order_of("cost-benefit-lfs", &env, s, 4, 0, text);
	is_str(text, "bcda", "cost-benefit, as published for LFS");
	env.metadata_weight = 100;
	order_of("weighted", &env, s, 4, 0, text);
	is_str(text, "dcba", "weighted, where both weigh the same: as optimal");
	/* 60, 50, 5 * 20, 10 */
	env.metadata_weight = 500;
	order_of("weighted", &env, s, 4, 0, text);
	is_str(text, "dbac", "weighted, metadata counting for more");
	env.scarce = 5;
	order_of("data-first", &env, s, 4, 6, text);
	is_str(text, "bdac", "data-first: metadata last");
	order_of("data-first", &env, s, 4, 5, text);
	is_str(text, "cbda", "unless clean segments are scarce");
	env.max_search = 2;
	/* a, b: b; then c, d: c; then around: a, d: d; then a. */
	order_of("greedy", &env, s, 4, 0, text);
	is_str(text, "bcda", "a window that goes around");
}

static void test_edges(void)
{
	const struct policy_segment s[] = {
		{ .segnum = 1, .lastmod = 0, .blocks = 64, .written = 64 },
		{ .segnum = 2, .lastmod = UINT64_MAX, .blocks = 64,
		  .written = 64, .live = 70 },
	};
	const struct policy_env env = { .nongc_ctime = UINT64_MAX / 2 };
	char text[8];
	size_t i;

	for (i = 0; i < policy_count; i++) {
		order_of(policy_list[i].name, &env, s, 2, 0, text);
		ok(!strcmp(text, "ab"), "%s: an old empty one comes first",
		   policy_list[i].name);
		order_of(policy_list[i].name, &env, s, 0, 0, text);
		is_str(text, "", "and none of none");
	}
	ok(!policy_find("none"), "there is no policy of that name");
}

static void test_names(void)
{
	static const char *const bad[] = {
		"weighted:", "weighted:0", "weighted:1x", "weighted:-1",
		"weighted:4294967296", "weighted:99999999999", "optimal:5",
		"", "none",
	};
	uint32_t weight = 0;
	size_t i;

	ok(policy_parse("optimal", &weight) == policy_find("optimal"),
	   "a name is a policy");
	is_int(weight, POLICY_WEIGHT, "with the usual weight");
	ok(policy_parse("weighted:120", &weight) == policy_find("weighted"),
	   "one may have a weight");
	is_int(weight, 120, "which is given");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!policy_parse(bad[i], &weight), "'%s' is none", bad[i]);
}

/* Metadata is counted only for policies that say that they use it. */
static void test_metadata(void)
{
	struct policy_env env = {
		.nongc_ctime = 1000,
		.metadata_weight = 500,
	};
	struct policy_segment s[8], without[8];
	char with[9], none[9];
	size_t i;

	for (i = 0; i < 8; i++)
		s[i] = without[i] = (struct policy_segment){
			.segnum = i,
			.lastmod = 100 * i,
			.blocks = 64,
			.written = 64,
			.live = (uint32_t)(40 + i % 3),
		};
	for (i = 0; i < 8; i += 2)
		s[i].metadata = s[i].live;
	for (i = 0; i < policy_count; i++) {
		order_of(policy_list[i].name, &env, s, 8, 10, with);
		order_of(policy_list[i].name, &env, without, 8, 10, none);
		is_int(policy_list[i].uses_metadata, strcmp(with, none) != 0,
		       policy_list[i].name);
	}
}

int main(void)
{
	test_names();
	test_orders();
	test_metadata();
	test_least();
	test_batches();
	test_never_more();
	test_edges();
	return tap_done();
}
