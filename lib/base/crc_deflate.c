// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 by libdeflate.
 *
 * libdeflate inverts the checksum at the start and at the end, unlike the kernel.
 * Two more inversions cancel these.
 */
#include "base/crc_backend.h"

#include <libdeflate.h>

uint32_t crc_deflate(uint32_t seed, const void *buf, size_t len)
{
	return ~libdeflate_crc32(~seed, buf, len);
}
