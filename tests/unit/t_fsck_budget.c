// SPDX-License-Identifier: GPL-2.0-or-later
/* The memory that a check may take grows with what is in use, to a point. */
#include "check/check.h"

#include "tap.h"

#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)
#define SETS 3		/* of a bit for each block */

static uint64_t sets(uint64_t blocks)
{
	return SETS * blocks / 8;
}

int main(void)
{
	const uint64_t usual = CONTEXT_MAX_MEMORY_DEFAULT;
	uint64_t blocks;

	is_int(check_budget(usual, 0, 64 * GIB), usual,
	       "the usual for an empty one");
	ok(check_budget(usual, GIB / 4096, 64 * GIB) < usual + usual / 100,
	   "hardly more for a gibibyte");
	for (blocks = TIB / 4096; blocks <= 16 * TIB / 4096; blocks *= 2)
		ok(check_budget(usual, blocks, 64 * GIB) - usual > sets(blocks),
		   "room for three sets of %llu blocks",
		   (unsigned long long)blocks);
	is_int(check_budget(usual, 16 * TIB / 4096, GIB), usual + GIB / 2,
	       "no more than half of the machine");
	is_int(check_budget(usual, UINT64_MAX, UINT64_MAX),
	       usual + UINT64_MAX / 2, "whatever the numbers");
	return tap_done();
}
