// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CRC-32 by ISA-L.
 *
 * It inverts the sum before it starts and after it ends, the kernel does
 * neither.  Two more inversions around its function cancel its own.
 */
#include "base/crc_backend.h"

#include <isa-l/crc.h>

uint32_t crc_isal(uint32_t seed, const void *buf, size_t len)
{
	return ~crc32_gzip_refl(~seed, buf, len);
}
