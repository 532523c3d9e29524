/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checksum of NILFS2, and the explanation of one that does not match. */
#ifndef NILFS2_BASE_CRC_H
#define NILFS2_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32 (reflected polynomial 0xEDB88320) of LEN bytes, continued from SEED,
 * with no inversion before or after: the result of one call is the seed of
 * the next.  Follows the kernel's crc32_le().
 */
uint32_t crc32_le(uint32_t seed, const void *buf, size_t len);

/* The checksum after LEN more zero bytes, without a buffer. */
uint32_t crc32_le_zeros(uint32_t seed, size_t len);

/* The only seed with which crc32_le() of LEN bytes is SUM. */
uint32_t crc32_le_seed(uint32_t sum, const void *buf, size_t len);

/* Messages longer than this, in bytes, may have two explanations. */
#define CRCSOLVE_BYTES_MAX ((UINT64_C(0xffffffff) - 32) / 8)

#define CRCSOLVE_NONE UINT64_MAX

/*
 * The bit whose flip explains the difference between COMPUTED, over LEN bytes, and
 * STORED; the seed does not matter.  A result below 8 * LEN is bit % 8 of byte bit /
 * 8 of the message; a larger one is bit - 8 * LEN of the stored number.  At most one
 * bit explains a difference.  CRCSOLVE_NONE if no bit does, there is no difference,
 * or the message is longer than CRCSOLVE_BYTES_MAX.  Takes some milliseconds for any
 * LEN.
 */
uint64_t crc32_le_bit(uint32_t stored, uint32_t computed, uint64_t len);

/*
 * The exclusive or of the checksums of a message before and after LEN bytes of it, OLD,
 * are replaced by NEW; AFTER bytes of the message follow them.
 */
uint32_t crc32_le_exchange(const void *old, const void *new, size_t len,
			    uint64_t after);

#endif
