// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Locating a single flipped bit from a CRC-32 syndrome.
 *
 * Without inversion the checksum is linear over GF(2): an error changes it by the
 * checksum from seed 0 of the error alone (W. W. Peterson and D. T. Brown, "Cyclic
 * Codes for Error Detection", 1961).  The syndrome of one flipped bit with N bits
 * after it is x^(N + 32) modulo the generator; that of a flipped bit of the stored
 * checksum is one of x^0 to x^31.
 *
 * The generator is primitive, so at most one bit explains a difference, and finding
 * it is a discrete logarithm.  The order of x is 3 * 5 * 17 * 257 * 65537; the
 * logarithm is found modulo each of these and combined by the Chinese remainder
 * theorem (S. C. Pohlig and M.  E. Hellman, 1978): N is the sum of a multiple T * S
 * of each S = ORDER / PRIME, where A^S = (x^(S * S))^T.  T is found by steps of 257
 * powers (D. Shanks, 1971).
 */
#include "base/crcsolve.h"

#include "base/crc.h"

#define ORDER UINT64_C(0xffffffff) /* of x */
#define ONE 0x80000000u
#define X 0x40000000u

static const uint32_t factors[] = {3, 5, 17, 257, 65537};

#define STEPS 257u /* its square exceeds each factor */
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
	/* The bits of a byte are numbered from the lowest one. */
	return n < 8 * len ? 8 * len - 1 - n : CRCSOLVE_NONE;
}

uint32_t crcsolve_exchange(const void *old, const void *new, size_t len,
			   uint64_t after)
{
	return crc32_le_zeros(crc32_le(0, old, len) ^ crc32_le(0, new, len),
			      after);
}
