// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables for writing integers two digits at a time.
 *
 * number_powers[n] is 10^n, so that one comparison corrects the number of
 * digits guessed from the number of bits.
 */
#include "out/number.h"

const char number_pairs[201] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

const uint64_t number_powers[20] = {
	1u,
	10u,
	100u,
	1000u,
	10000u,
	100000u,
	1000000u,
	10000000u,
	100000000u,
	1000000000u,
	10000000000u,
	100000000000u,
	1000000000000u,
	10000000000000u,
	100000000000000u,
	1000000000000000u,
	10000000000000000u,
	100000000000000000u,
	1000000000000000000u,
	10000000000000000000u,
};

char *number_hex(char *to, uint64_t v, unsigned int digits)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	unsigned int n = (bits + 3) / 4;
	char *p;

	if (n < digits)
		n = digits;
	for (p = to + n; p > to; v >>= 4)
		*--p = "0123456789abcdef"[v & 15];
	return to + n;
}
