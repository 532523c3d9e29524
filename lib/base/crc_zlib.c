// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 by zlib.
 *
 * It inverts the sum before it starts and after it ends, the kernel does
 * neither.  Two more inversions around its function cancel its own.
 */
#include "base/crc_backend.h"

#include <zlib.h>

uint32_t crc_zlib(uint32_t seed, const void *buf, size_t len)
{
	return ~(uint32_t)crc32_z(~seed & 0xffffffffu, buf, len);
}
