/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Products of 128 bits, also for compilers of 32-bit machines, which have no type of
 * that size.
 */
#ifndef NILFS2_BASE_WIDE_H
#define NILFS2_BASE_WIDE_H

#include <stdint.h>

/* A number of 128 bits: HIGH * 2^64 + LOW. */
struct wide {
	uint64_t high, low;
};

/* A * B, which always fits: the sum of four products of 32-bit halves. */
static inline struct wide wide_mul(uint64_t a, uint64_t b)
{
	uint64_t a_low = (uint32_t)a, a_high = a >> 32;
	uint64_t b_low = (uint32_t)b, b_high = b >> 32;
	uint64_t low = a_low * b_low;
	/* Neither sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64. */
	uint64_t middle = a_high * b_low + (low >> 32);
	uint64_t other = a_low * b_high + (uint32_t)middle;

	return (struct wide){
		.high = a_high * b_high + (middle >> 32) + (other >> 32),
		.low = other << 32 | (uint32_t)low,
	};
}

/*
 * (A * B + ADD) / C rounded down, without overflow of the intermediate result; the
 * low 64 bits of a larger quotient.  C must not be 0.
 */
uint64_t wide_mul_div(uint64_t a, uint64_t b, uint64_t add, uint64_t c);

#endif
