/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names from a disk as text that is safe to show.
 *
 * A name may contain any byte but NUL and '/'.  The text is UTF-8 without
 * characters that move the cursor, end the line or reorder what follows: those,
 * and bytes that are not UTF-8, appear as \xHH (two lower-case hexadecimal
 * digits for each byte), and a backslash as \\.  The original bytes can be
 * restored, as by printf '%b' in a shell.
 */
#ifndef NILFS2_BASE_TEXT_H
#define NILFS2_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Enough room for any name of LEN bytes. */
#define TEXT_ESCAPED_MAX(len) (4 * (len) + 1)

/*
 * Escapes LEN bytes at NAME into BUF of SIZE bytes and returns the length of
 * the text, without the NUL.  A text that does not fit is cut between two
 * characters; SIZE must be at least 1.
 */
size_t text_escape(char *buf, size_t size, const void *name, size_t len);

/*
 * Length of the well-formed UTF-8 character at BYTES, of which LEN >= 1 are
 * available, and its number in *CODE, unless CODE is NULL; 0 if it is truncated,
 * overlong, a surrogate or above U+10FFFF.
 */
size_t text_utf8(const void *bytes, size_t len, uint32_t *code);

/* A hash of LEN bytes: FNV-1a with 64 bits. */
static inline uint64_t text_hash(const void *bytes, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	const uint8_t *at = bytes;

	while (len--)
		hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
	return hash;
}

/* One of N words, with SEED. */
static inline uint64_t text_hash_words(uint64_t seed, const uint64_t *words,
				       size_t n)
{
	uint64_t hash = seed + UINT64_C(0x9e3779b97f4a7c15);

	while (n--) {
		hash = (hash ^ *words++) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	return hash;
}

/* The base of the number TEXT: 16 after 0x, otherwise 10, also after a leading 0. */
int text_base(const char *text);

#endif
