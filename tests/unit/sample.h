/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of many like cases a run of minutes tries some. */
#ifndef NILFS2_TESTS_SAMPLE_H
#define NILFS2_TESTS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Whether case NUMBER is one of those to be tried: one in N, which ones by SEED
 * (1) of the environment; all of them if EVERY is set there.
 */
static inline bool is_sampled(uint64_t number, unsigned int n)
{
	const char *every = getenv("EVERY"), *seed = getenv("SEED");

	if (every && *every)
		return true;
	return !((number + (seed ? strtoull(seed, NULL, 10) : 1)) % n);
}

#endif
