/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of many like cases a run of minutes tries some. */
#ifndef NILFS2_TESTS_SAMPLE_H
#define NILFS2_TESTS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Whether EVERY is set in the environment: all cases, and runs of full length. */
static inline bool tries_all(void)
{
	const char *every = getenv("EVERY");

	return every && *every;
}

/* SEED, or 1. */
static inline uint64_t sample_seed(void)
{
	const char *seed = getenv("SEED");

	return seed ? strtoull(seed, NULL, 10) : 1;
}

/* Whether case NUMBER is to be tried: all, or one in N, by SEED. */
static inline bool is_sampled(uint64_t number, unsigned int n)
{
	return tries_all() || !((number + sample_seed()) % n);
}

#endif
