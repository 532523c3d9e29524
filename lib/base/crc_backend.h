/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Implementations of CRC-32: crc.c calls one of these, a test compares all available
 * ones.
 */
#ifndef NILFS2_BASE_CRC_BACKEND_H
#define NILFS2_BASE_CRC_BACKEND_H

#include <stddef.h>
#include <stdint.h>

/* Each as crc32_le(), for at least one byte. */
uint32_t crc_zlib(uint32_t seed, const void *buf, size_t len);
uint32_t crc_deflate(uint32_t seed, const void *buf, size_t len);
uint32_t crc_isal(uint32_t seed, const void *buf, size_t len);

#endif
