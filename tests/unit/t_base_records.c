// SPDX-License-Identifier: GPL-2.0-or-later
/* Records, in memory and past it: what was added is what is read. */
#include "config.h"

#include "base/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>

#include "tap.h"

struct record {
	uint64_t number;
	char rest[48];		/* a page has room left over */
};

static struct context cx;

static struct record make(uint64_t i)
{
	struct record r = { .number = i * i + 7 };

	memset(r.rest, (int)(i % 251), sizeof(r.rest));
	return r;
}

static unsigned int is_wrong(struct records *r, uint64_t i)
{
	struct record want = make(i), got = { .number = 0 };

	return records_get(r, &cx, i, &got) ||
	       memcmp(&want, &got, sizeof(got));
}

/* N records of which MEMORY have room, read while they are added and after. */
static void test_records(uint64_t n, size_t memory, const char *what)
{
	struct records r;
	struct record one;
	unsigned int bad = 0;
	uint64_t i;

	records_init(&r, sizeof(one), memory * sizeof(one));
	for (i = 0; i < n; i++) {
		one = make(i);
		bad += records_add(&r, &cx, &one) != 0;
		bad += is_wrong(&r, i);
		bad += is_wrong(&r, i / 2);
	}
	is_int(bad, 0, what);
	is_int(r.n, n, "all are there");
	for (i = 0; i < n; i++)
		bad += is_wrong(&r, n - 1 - i);
	for (i = 0; i < n; i++)
		bad += is_wrong(&r, i * 7919 % n);
	is_int(bad, 0, "and read in any order");
	ok(r.room * r.size <= memory * sizeof(one) + 4096,
	   "%zu bytes of memory", r.room * r.size);
	records_fini(&r);
}

static int fill(struct records *r, uint64_t n)
{
	struct record one = make(1);
	int err = 0;

	for (; n && !err; n--)
		err = records_add(r, &cx, &one);
	return err;
}

static void test_failures(void)
{
	const struct rlimit small = { 8192, RLIM_INFINITY };
	const char *dir = cx.scratch_dir;
	struct rlimit before;
	struct records r;

	records_init(&r, sizeof(struct record), 10 * sizeof(struct record));
	cx.scratch_dir = NULL;
	is_int(fill(&r, 10), 0, "what fits needs no file");
	is_int(fill(&r, 1), -ENOMEM, "more does");
	is_int(r.n, 10, "and is not there");
	cx.scratch_dir = dir;
	is_int(fill(&r, 1), 0, "a file can be made later");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &small);
	is_int(fill(&r, 1000), -ENOMEM, "a file that cannot grow");
	setrlimit(RLIMIT_FSIZE, &before);
	records_fini(&r);
	records_fini(&r);
	records_init(&r, 8, 100);
	records_fini(&r);
}

int main(void)
{
	context_init(&cx);
	cx.scratch_dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	test_records(1, 100, "one record");
	test_records(100, 100, "as many as have room");
	test_records(101, 100, "one more");
	test_records(20000, 100, "many more");
	test_records(3000, 0, "none in memory");
	test_failures();
	return tap_done();
}
