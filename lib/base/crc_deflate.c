// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 by libdeflate.
 *
 * It inverts the sum before it starts and after it ends, the kernel does
 * neither.  Two more inversions around its function cancel its own.
 */
#include "base/crc_backend.h"

#include <libdeflate.h>

uint32_t crc_deflate(uint32_t seed, const void *buf, size_t len)
{
	return ~libdeflate_crc32(~seed, buf, len);
}
