// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 as computed by the kernel.
 *
 * The implementation is a library: libdeflate or ISA-L if found, which use carry-less
 * multiplication and are equally fast, otherwise zlib.  libdeflate is preferred since
 * programs linked with it start faster.
 *
 * A checksum is a polynomial over GF(2), modulo the generator; another zero byte
 * multiplies it by x^8.  So the checksum after many zeros, which is used to combine the
 * checksums of two parts, takes a few multiplications.
 *
 * Without inversion the checksum is linear: an error changes it by the checksum from
 * seed 0 of the error alone (W. W. Peterson and D. T. Brown, "Cyclic Codes for Error
 * Detection", 1961).  The syndrome of one flipped bit with N bits after it is
 * x^(N + 32) modulo the generator; that of a flipped bit of the stored checksum is one
 * of x^0 to x^31.  The generator is primitive, so at most one bit explains a
 * difference, and finding it is a discrete logarithm.
 */
#include "config.h"

#include "base/crc.h"

#if defined(HAVE_LIBDEFLATE)
#include <libdeflate.h>
#elif defined(HAVE_LIBISAL)
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

#define GENERATOR 0xedb88320u	/* bit 31 is x^0 */
#define ONE 0x80000000u
#define X 0x40000000u
#define X8 0x00800000u		/* x^8 */
#define ORDER UINT64_C(0xffffffff)	/* of x: the product of all factors */
#define STEPS 257u		/* its square exceeds each factor */

static const uint32_t factors[] = { 3, 5, 17, 257, 65537 };

uint32_t crc32_le(uint32_t seed, const void *buf, size_t len)
{
	if (!len)
		return seed;
	/* Unlike the kernel the libraries invert the checksum at the start and at the
	   end. */
#if defined(HAVE_LIBDEFLATE)
	return ~libdeflate_crc32(~seed, buf, len);
#elif defined(HAVE_LIBISAL)
	return ~crc32_gzip_refl(~seed, buf, len);
#else
	return ~(uint32_t)crc32_z(~seed & 0xffffffffu, buf, len);
#endif
}

/*
 * The product of two polynomials modulo the generator.  Without branches on bits, half
 * of which would be predicted wrongly.
 */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		product ^= b & -(a >> 31);
		b = b >> 1 ^ (GENERATOR & -(b & 1));
	}
	return product;
}

/* A to the power of N. */
static uint32_t power(uint32_t a, uint64_t n)
{
	uint32_t product = ONE;

	for (; n; n >>= 1) {
		if (n & 1)
			product = multiply(product, a);
		a = multiply(a, a);
	}
	return product;
}

uint32_t crc32_le_zeros(uint32_t seed, size_t len)
{
	return multiply(power(X8, len), seed);
}

/*
 * The contribution of the seed to the checksum is the seed after as many zeros.
 * Since the generator is primitive, any checksum repeats after 2^32 - 1 zeros.
 */
uint32_t crc32_le_seed(uint32_t sum, const void *buf, size_t len)
{
	return crc32_le_zeros(sum ^ crc32_le(0, buf, len),
			      UINT32_MAX - len % UINT32_MAX);
}

/* The T below PRIME with BASE^T = A. */
static uint32_t log_to_base(uint32_t a, uint32_t base, uint32_t prime)
{
	uint32_t powers[STEPS], step = prime < STEPS ? prime : STEPS, n, i;
	uint32_t back = power(base, prime - step % prime);

	powers[0] = ONE;
	for (i = 1; i < step; i++)
		powers[i] = multiply(powers[i - 1], base);
	for (n = 0;; n += step) {
		for (i = 0; i < step; i++)
			if (powers[i] == a)
				return n + i;
		a = multiply(a, back);
	}
}

/*
 * The logarithm is found modulo each factor of the order of x, and combined by the
 * Chinese remainder theorem (S. C. Pohlig and M. E. Hellman, 1978): it is the sum of a
 * multiple T * S of each S = ORDER / PRIME, where A^S = (x^(S * S))^T.  T is found by
 * steps of 257 powers (D. Shanks, 1971).
 */
uint64_t crc32_le_bit(uint32_t stored, uint32_t computed, uint64_t len)
{
	uint32_t difference = stored ^ computed;
	uint64_t n = 0, s;
	size_t i;

	if (!difference || len > CRCSOLVE_BYTES_MAX)
		return CRCSOLVE_NONE;
	/* The N below ORDER with x^N = DIFFERENCE. */
	for (i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
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

uint32_t crc32_le_exchange(const void *old, const void *new, size_t len,
			    uint64_t after)
{
	return crc32_le_zeros(crc32_le(0, old, len) ^ crc32_le(0, new, len),
			      after);
}
