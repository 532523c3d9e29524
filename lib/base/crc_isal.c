// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 by ISA-L.
 *
 * ISA-L inverts the checksum at the start and at the end, unlike the kernel.  Two more
 * inversions cancel these.
 */
#include "base/crc_backend.h"

#include <isa-l/crc.h>

uint32_t crc_isal(uint32_t seed, const void *buf, size_t len)
{
	return ~crc32_gzip_refl(~seed, buf, len);
}
