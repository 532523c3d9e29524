// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 by zlib.
 *
 * zlib inverts the checksum at the start and at the end, unlike the kernel.  Two more
 * inversions cancel these.
 */
#include "base/crc_backend.h"

#include <zlib.h>

uint32_t crc_zlib(uint32_t seed, const void *buf, size_t len)
{
	return ~(uint32_t)crc32_z(~seed & 0xffffffffu, buf, len);
}
