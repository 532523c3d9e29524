/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Characters that no form of output escapes, eight at a time: a listing is
 * mostly names, and names are mostly these.
 */
#ifndef NILFS2_OUT_PLAIN_H
#define NILFS2_OUT_PLAIN_H

#include <stdint.h>
#include <string.h>

#define PLAIN_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of some byte is set where a byte of WORD is zero, else none. */
static inline uint64_t plain_zeros(uint64_t word)
{
	return (word - PLAIN_EACH(1)) & ~word & PLAIN_EACH(0x80);
}

/*
 * Passes over whole groups of eight printable ASCII characters that are
 * neither a quote nor a backslash; what it returns may still be plain.
 */
static inline const unsigned char *plain_skip(const unsigned char *p,
					      const unsigned char *end)
{
	uint64_t word;

	for (; end - p >= 8; p += 8) {
		memcpy(&word, p, sizeof(word));
		if ((word & PLAIN_EACH(0x80)) |
		    plain_zeros(word & PLAIN_EACH(0xe0)) |
		    plain_zeros(word ^ PLAIN_EACH(0x7f)) |
		    plain_zeros(word ^ PLAIN_EACH('"')) |
		    plain_zeros(word ^ PLAIN_EACH('\\')))
			break;
	}
	return p;
}

#endif
