/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Integers to digits, inline, since a dump mostly consists of numbers.
 */
#ifndef NILFS2_OUT_NUMBER_H
#define NILFS2_OUT_NUMBER_H

#include <stdint.h>
#include <string.h>

extern const char number_pairs[201];
extern const uint64_t number_powers[20];

/* Decimal digits of V, 1 ... 20. */
static inline unsigned int number_digits(uint64_t v)
{
	/* 1233 / 4096 approximates log10(2): the result is off by one at most. */
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	unsigned int guess = bits * 1233 >> 12;

	return guess + (v >= number_powers[guess] || guess == 0);
}

/* Writes V, which has DIGITS digits, at TO and returns the end. */
static inline char *number_write(char *to, uint64_t v, unsigned int digits)
{
	char *end = to + digits, *p = end;

	while (v >= 100) {
		p -= 2;
		memcpy(p, number_pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(p - 2, number_pairs + 2 * v, 2);
	else
		p[-1] = (char)('0' + v);
	return end;
}

static inline char *number_u64(char *to, uint64_t v)
{
	return number_write(to, v, number_digits(v));
}

/* Writes V in lower-case hexadecimal of at least DIGITS (1 ... 16) digits. */
char *number_hex(char *to, uint64_t v, unsigned int digits);

#endif
