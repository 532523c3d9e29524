// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Quotients of products of 128 bits.
 *
 * Nearly every product here fits into 64 bits and is divided by the machine; the
 * others are divided bit by bit.
 */
#include "base/wide.h"

#include <stdbool.h>

static uint64_t divide(struct wide v, uint64_t c)
{
	uint64_t rest = v.high % c, quotient = 0;
	bool carry;
	int bit;

	for (bit = 63; bit >= 0; bit--) {
		carry = rest >> 63;
		rest = rest << 1 | (v.low >> bit & 1);
		quotient <<= 1;
		if (carry || rest >= c) {
			rest -= c;
			quotient |= 1;
		}
	}
	return quotient;
}

uint64_t wide_mul_div(uint64_t a, uint64_t b, uint64_t add, uint64_t c)
{
	struct wide v = wide_mul(a, b);

	v.low += add;
	v.high += v.low < add;
	return v.high ? divide(v, c) : v.low / c;
}
