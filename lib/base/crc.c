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
#define X8 0x00800000u		/* x^8 */

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

/* Without branches on bits, half of which would be predicted wrongly. */
uint32_t crc32_le_multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		product ^= b & -(a >> 31);
		b = b >> 1 ^ (GENERATOR & -(b & 1));
	}
	return product;
}

uint32_t crc32_le_zeros(uint32_t seed, size_t len)
{
	uint32_t power = X8;

	for (; len; len >>= 1) {
		if (len & 1)
			seed = crc32_le_multiply(power, seed);
		power = crc32_le_multiply(power, power);
	}
	return seed;
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
