/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arithmetic on numbers that come from a disk.
 *
 * Each function stores the result and returns true, or returns false without a
 * change if the result does not fit.  The compiler warns about an unused return
 * value.
 */
#ifndef NILFS2_BASE_CHECKED_H
#define NILFS2_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

#define CHECKED_MUST_USE __attribute__((warn_unused_result))

static inline CHECKED_MUST_USE bool checked_add(uint64_t a, uint64_t b,
						uint64_t *sum)
{
	uint64_t v;

	if (__builtin_add_overflow(a, b, &v))
		return false;
	*sum = v;
	return true;
}

static inline CHECKED_MUST_USE bool checked_mul(uint64_t a, uint64_t b,
						uint64_t *product)
{
	uint64_t v;

	if (__builtin_mul_overflow(a, b, &v))
		return false;
	*product = v;
	return true;
}

/* A / C rounded up; C must not be 0. */
static inline uint64_t div_round_up(uint64_t a, uint64_t c)
{
	return a / c + (a % c != 0);
}

#endif
