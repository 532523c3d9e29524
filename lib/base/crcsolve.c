// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading a CRC-32 backwards.
 *
 * Without inversion the checksum is linear over GF(2): the sum of a message
 * with an error is the sum of the message, by exclusive or with the sum from
 * seed 0 of the error alone (W. W. Peterson and D. T. Brown, "Cyclic Codes
 * for Error Detection", 1961).  So exchanging a block costs the sum of that
 * block, and the error of one flipped bit with N bits after it has the sum
 * x^(N + 32) modulo the generator; a flipped bit of the stored sum itself is
 * one of x^0 to x^31.
 *
 * The generator is primitive, so the powers of x are all different up to
 * x^(2^32 - 2): one bit explains a difference or none does, and to find it is
 * a discrete logarithm.  The order of x is 3 * 5 * 17 * 257 * 65537, therefore
 * the logarithm is found modulo each of these, and put together by the Chinese
 * remainder theorem (S. C. Pohlig and M. E. Hellman, "An Improved Algorithm for
 * Computing Logarithms over GF(p)", 1978): N is the sum of a multiple T * S of
 * each S = ORDER / PRIME, which is 0 modulo the other primes, and as N = T * S
 * modulo PRIME, A^S = (x^(S * S))^T.  T is found in steps of 257, from one of 257
 * powers (D. Shanks, "Class number, a theory of factorization, and genera", 1971).
 */
#include "base/crcsolve.h"

#include "base/crc.h"

#define ORDER UINT64_C(0xffffffff) /* of x */
#define ONE 0x80000000u
#define X 0x40000000u

static const uint32_t factors[] = {3, 5, 17, 257, 65537};

#define STEPS 257u /* its square is more than each factor */
#define NFACTORS (sizeof(factors) / sizeof(factors[0]))

static uint32_t power(uint32_t a, uint64_t n)
{
	uint32_t product = ONE;

	for (; n; n >>= 1) {
		if (n & 1)
			product = crc32_le_multiply(product, a);
		a = crc32_le_multiply(a, a);
	}
	return product;
}

/* The T below PRIME with BASE^T = A. */
static uint32_t log_to_base(uint32_t a, uint32_t base, uint32_t prime)
{
	uint32_t powers[STEPS], step = prime < STEPS ? prime : STEPS, n, i;
	uint32_t back = power(base, prime - step % prime);

	powers[0] = ONE;
	for (i = 1; i < step; i++)
		powers[i] = crc32_le_multiply(powers[i - 1], base);
	for (n = 0;; n += step) {
		for (i = 0; i < step; i++)
			if (powers[i] == a)
				return n + i;
		a = crc32_le_multiply(a, back);
	}
}

uint64_t crcsolve_bit(uint32_t stored, uint32_t computed, uint64_t len)
{
	uint32_t difference = stored ^ computed;
	uint64_t n = 0, s;
	size_t i;

	if (!difference || len > CRCSOLVE_BYTES_MAX)
		return CRCSOLVE_NONE;
	/* The N below ORDER with x^N = DIFFERENCE. */
	for (i = 0; i < NFACTORS; i++) {
		s = ORDER / factors[i];
		n += s * log_to_base(power(difference, s),
				     power(X, s * s % ORDER), factors[i]);
	}
	n %= ORDER;
	if (n < 32)
		return 8 * len + 31 - n;
	n -= 32;
	/* The bits of a byte count from the lowest one. */
	return n < 8 * len ? 8 * len - 1 - n : CRCSOLVE_NONE;
}

uint32_t crcsolve_exchange(const void *old, const void *new, size_t len,
			   uint64_t after)
{
	return crc32_le_zeros(crc32_le(0, old, len) ^ crc32_le(0, new, len),
			      after);
}
