// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Quotients of products of 128 bits.
 *
 * Nearly every product here fits into 64 bits and is divided by the machine; others are
 * divided bit by bit.
 */
#include "base/wide.h"

#include <stdbool.h>

uint64_t wide_mul_div(uint64_t a, uint64_t b, uint64_t add, uint64_t c)
{
	struct wide v = wide_mul(a, b);
	uint64_t rest, quotient = 0;
	bool carry;
	int bit;

	v.low += add;
	v.high += v.low < add;
	if (!v.high)
		return v.low / c;
	rest = v.high % c;
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
