// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 as the kernel counts it, by zlib.
 *
 * zlib inverts the sum before it starts and after it ends, the kernel does
 * neither.  Two more inversions around zlib's function cancel its own, so its
 * fast code serves both.
 */
#include "base/crc.h"

#include <zlib.h>

uint32_t crc32_le(uint32_t seed, const void *buf, size_t len)
{
	return ~(uint32_t)crc32_z(~seed & 0xffffffffu, buf, len);
}

uint32_t crc32_le_zeros(uint32_t seed, size_t len)
{
	static const unsigned char zeros[64];
	size_t n;

	for (; len; len -= n) {
		n = len < sizeof(zeros) ? len : sizeof(zeros);
		seed = crc32_le(seed, zeros, n);
	}
	return seed;
}
