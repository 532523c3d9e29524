// SPDX-License-Identifier: GPL-2.0-or-later
/* Amounts of space, as segments of a volume. */
#include "gc/clean.h"
#include "gc/options.h"

#include "tap.h"

static void test(int unit, uint64_t n, uint64_t segments, uint64_t want,
		 const char *name)
{
	const struct options_amount amount = { .unit = unit, .n = n };

	ok(options_segments(&amount, 8 << 20, segments) == want, "%s", name);
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
	return tap_done();
}
