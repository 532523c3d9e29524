// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of super roots: one, whatever the numbers say and in whichever order
 * they were found.  And a search that has no memory fails: it does not find less.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/segsum.h"
#include "fsck_volume.h"
#include "tap.h"

#define ROOTS 5u

/* Sequence number, offset, checkpoint, time. */
static struct root_log make_root(uint64_t seq, uint64_t offset, uint64_t cno,
				 uint64_t time, uint64_t pseg)
{
	struct root_log root = { .pseg = pseg, .seq = seq, .offset = offset };

	root.ss.ss_bytes = le16_make(sizeof(root.ss));
	root.ss.ss_seq = le64_make(seq);
	root.ss.ss_cno = le64_make(cno);
	root.ss.ss_create = le64_make(time);
	return root;
}

/* ROOTS in the order of permutation NUMBER. */
static void permute(const struct root_log *roots, unsigned int number,
		    struct root_log *out)
{
	struct root_log rest[ROOTS];
	unsigned int n, i, at;

	memcpy(rest, roots, sizeof(rest));
	for (n = ROOTS, i = 0; n; n--, i++) {
		at = number % n;
		number /= n;
		out[i] = rest[at];
		memmove(rest + at, rest + at + 1,
			(n - at - 1) * sizeof(*rest));
	}
}

/*
 * Each is newer than the next by two of the three numbers, and the third one
 * newer than the first.
 */
static void test_permutations(void)
{
	const struct root_log roots[ROOTS] = {
		make_root(9, 0, 4, 50, 900),
		make_root(8, 40, 6, 40, 840),
		make_root(8, 20, 5, 60, 820),
		make_root(7, 0, 9, 10, 100),
		make_root(7, 0, 8, 70, 200),
	};
	struct root_log sorted[ROOTS];
	unsigned int number, i, wrong = 0;

	for (number = 0; number < 120; number++) {
		permute(roots, number, sorted);
		qsort(sorted, ROOTS, sizeof(*sorted), rootsearch_compare);
		for (i = 0; i < ROOTS; i++)
			wrong += sorted[i].pseg != roots[i].pseg;
	}
	is_int(wrong, 0, "five logs have one order, as they were written");
}

/* All that differ in numbers from 1 to 3: 81 logs, and half a million triples. */
static void test_total(void)
{
	struct root_log *roots = calloc(81, sizeof(*roots));
	unsigned int i, j, k, both = 0, cycles = 0;

	for (i = 0; i < 81; i++)
		roots[i] = make_root(1 + i % 3, 1 + i / 3 % 3, 1 + i / 9 % 3,
				     1 + i / 27, i);
	for (i = 0; i < 81; i++)
		for (j = 0; j < 81; j++) {
			int ret = rootsearch_compare(&roots[i], &roots[j]);

			both += (ret == 0) != (i == j);
			both += (ret < 0) !=
				(rootsearch_compare(&roots[j], &roots[i]) > 0);
			for (k = 0; ret < 0 && k < 81; k++)
				cycles += rootsearch_compare(&roots[j],
							     &roots[k]) < 0 &&
					  rootsearch_compare(&roots[i],
							     &roots[k]) >= 0;
		}
	is_int(both, 0, "of two logs one is newer");
	is_int(cycles, 0, "what is newer than the newer one is newer");
	free(roots);
}

/* Blocks that are read from the cache fail so from then on, if not 0. */
static int cache_fails;

int __real_cache_get(struct cache *cache, struct context *cx, uint64_t blocknr,
		     const void **data);
int __wrap_cache_get(struct cache *cache, struct context *cx, uint64_t blocknr,
		     const void **data);

int __wrap_cache_get(struct cache *cache, struct context *cx, uint64_t blocknr,
		     const void **data)
{
	*data = NULL;
	return cache_fails ? fail(cx, cache_fails, "block") :
			     __real_cache_get(cache, cx, blocknr, data);
}

/* A log that superblocks name whose header is lost is looked for. */
static void test_failures(void)
{
	struct nilfs_super_block sb = { 0 };
	struct rootsearch rs = { 0 };
	struct log_volume v;

	is_int(fsck_volume_make(&v, NULL), 0, "a volume");
	rs.dev = v.dev;
	rs.geo = &v.g;
	is_int(rootsearch_run(&rs, &v.cx), 0, "its super roots");
	ok(rs.nroots == 2 && segsum_cno(&rs.roots[0].ss) == 2,
	   "the newest first");
	sb.s_last_pseg = le64_make(rs.roots[0].pseg + 1);
	cache_fails = -ENOMEM;
	is_int(rootsearch_add_named(&rs, &v.cx, &sb), -ENOMEM,
	       "without memory it fails");
	cache_fails = -EIO;
	is_int(rootsearch_add_named(&rs, &v.cx, &sb), 0,
	       "what cannot be read is no super root");
	cache_fails = 0;
	is_int(rs.nroots, 2, "nothing was added");
	rootsearch_fini(&rs);
	log_volume_fini(&v);
}

int main(void)
{
	test_permutations();
	test_total();
	test_failures();
	return tap_done();
}
