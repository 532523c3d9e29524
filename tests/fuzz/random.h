/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers that are the same on every system. */
#ifndef NILFS2_TESTS_FUZZ_RANDOM_H
#define NILFS2_TESTS_FUZZ_RANDOM_H

#include <stdint.h>

/* The number that follows STATE, which moves on (splitmix64). */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif
