/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checksum of NILFS2. */
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

/*
 * The product of two polynomials modulo the generator; bit 31 is x^0.  Every
 * checksum is such a polynomial.
 */
uint32_t crc32_le_multiply(uint32_t a, uint32_t b);

/* The checksum after LEN more zero bytes, without a buffer. */
uint32_t crc32_le_zeros(uint32_t seed, size_t len);

/* The only seed with which crc32_le() of LEN bytes is SUM. */
uint32_t crc32_le_seed(uint32_t sum, const void *buf, size_t len);

#endif
