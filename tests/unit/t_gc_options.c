// SPDX-License-Identifier: GPL-2.0-or-later
/* Amounts of space, as segments of a volume; what may be asked for together. */
#include <errno.h>
#include <string.h>

#include "gc/clean/clean.h"
#include "gc/job.h"
#include "gc/options.h"

#include "tap.h"

static void test(int unit, uint64_t n, uint64_t segments, uint64_t want,
		 const char *name)
{
	const struct options_amount amount = { .unit = unit, .n = n };

	ok(options_segments(&amount, 8 << 20, segments) == want, "%s", name);
}

static void test_together(void)
{
	struct context cx;
	struct options o = options_defaults;

	context_init(&cx);
	ok(!jobs_check(&cx, &o), "nothing is a whole");
	o.compact = OPTIONS_COMPACT_ALL;
	o.shrink.wanted = o.purge = o.punch = true;
	ok(!jobs_check(&cx, &o), "what follows one another goes");
	o.grow.wanted = true;
	ok(jobs_check(&cx, &o) == -EINVAL, "not smaller and larger");
	o.grow.wanted = false;
	o.output = "copy";
	ok(jobs_check(&cx, &o) == -EINVAL &&
	   strstr(cx.failure, "--shrink"), "a copy is not made smaller");
	o.shrink.wanted = false;
	ok(jobs_check(&cx, &o) == -EINVAL &&
	   strstr(cx.failure, "--purge"), "nor purged");
	o.purge = o.punch = false;
	ok(!jobs_check(&cx, &o), "it is compact");
	o.defrag.count = 1;
	ok(jobs_check(&cx, &o) == -EINVAL &&
	   strstr(cx.failure, "--defrag"), "files lie in its own order");
	o.defrag.count = 0;
	o.deletions.count = 1;
	ok(jobs_check(&cx, &o) == -EINVAL &&
	   strstr(cx.failure, "--delete-checkpoints"),
	   "what it is made of stays");
	o.deletions.count = 0;
	o.tune.label = "name";
	ok(jobs_check(&cx, &o) == -EINVAL &&
	   strstr(cx.failure, "--label"), "also in its superblocks");
	o.tune.label = NULL;
	o.take_snapshot = true;
	ok(jobs_check(&cx, &o) == -EINVAL &&
	   strstr(cx.failure, "--take-snapshot"), "and its snapshots");
	o.take_snapshot = false;
	o.deletions.count = 1;
	o.output = NULL;
	o.compare = true;
	ok(!jobs_check(&cx, &o), "forecasts are made without them");
	o.defrag.count = 1;
	ok(jobs_check(&cx, &o) == -EINVAL &&
	   strstr(cx.failure, "--defrag"), "nor of files in another order");
	o.defrag.count = 0;
	o.grow.wanted = true;
	ok(jobs_check(&cx, &o) == -EINVAL, "but of no other size");
}

int main(void)
{
	test(OPTIONS_WORTH, 0, 100, CLEAN_ALL, "all that is worth it");
	test(OPTIONS_SEGMENTS, 7, 100, 7, "segments");
	test(OPTIONS_BYTES, 16 << 20, 100, 2, "bytes");
	test(OPTIONS_BYTES, (16 << 20) + 1, 100, 3, "begun segments count");
	test(OPTIONS_PERCENT, 20, 127, 26, "percent, rounded up");
	test(OPTIONS_PERCENT, 100, 127, 127, "all of them");
	test(OPTIONS_PERCENT, 0, 127, 0, "none of them");
	test(OPTIONS_PERCENT, 50, UINT64_MAX - 1, UINT64_MAX / 2,
	     "of more than there can be");
	test_together();
	return tap_done();
}
