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

/* The type leN, and leN_get() and leN_make(), which convert it, for N bits. */
#define LE_TYPE(bits)							\
	typedef struct {						\
		uint8_t b[(bits) / 8];					\
	} le##bits;							\
	static inline uint##bits##_t le##bits##_get(le##bits le)	\
	{								\
		uint##bits##_t v;					\
									\
		memcpy(&v, le.b, sizeof(v));				\
		return le##bits##toh(v);				\
	}								\
	static inline le##bits le##bits##_make(uint##bits##_t v)	\
	{								\
		le##bits le;						\
									\
		v = htole##bits(v);					\
		memcpy(le.b, &v, sizeof(v));				\
		return le;						\
	}

LE_TYPE(16)
LE_TYPE(32)
LE_TYPE(64)

#endif
