/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Little-endian integers as one-member structures.
 *
 * A plain integer cannot be assigned to or compared with one of these, so a missing
 * conversion is a compile error on every machine.  They are arrays of bytes, so they
 * can be accessed at any offset of a buffer, independent of alignment.
 */
#ifndef NILFS2_BASE_LE_H
#define NILFS2_BASE_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

typedef struct {
	uint8_t b[2];
} le16;

typedef struct {
	uint8_t b[4];
} le32;

typedef struct {
	uint8_t b[8];
} le64;

static inline uint16_t le16_get(le16 le)
{
	uint16_t v;

	memcpy(&v, le.b, sizeof(v));
	return le16toh(v);
}

static inline uint32_t le32_get(le32 le)
{
	uint32_t v;

	memcpy(&v, le.b, sizeof(v));
	return le32toh(v);
}

static inline uint64_t le64_get(le64 le)
{
	uint64_t v;

	memcpy(&v, le.b, sizeof(v));
	return le64toh(v);
}

static inline le16 le16_make(uint16_t v)
{
	le16 le;

	v = htole16(v);
	memcpy(le.b, &v, sizeof(v));
	return le;
}

static inline le32 le32_make(uint32_t v)
{
	le32 le;

	v = htole32(v);
	memcpy(le.b, &v, sizeof(v));
	return le;
}

static inline le64 le64_make(uint64_t v)
{
	le64 le;

	v = htole64(v);
	memcpy(le.b, &v, sizeof(v));
	return le;
}

#endif
