/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Skips characters that no output format escapes, sixteen at a time, since most
 * characters of a listing are of that kind.
 */
#ifndef NILFS2_OUT_PLAIN_H
#define NILFS2_OUT_PLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PLAIN_GROUP 16

typedef unsigned char plain_group
	__attribute__((vector_size(PLAIN_GROUP)));

/*
 * Skips printable ASCII characters except quotes and backslashes, in whole groups;
 * the returned place may still be a plain character.  The last group may overlap the
 * one before.
 */
static inline const unsigned char *plain_skip(const unsigned char *p,
					      const unsigned char *end)
{
	const unsigned char *at = p;
	plain_group c, escaped;
	uint64_t half[2];

	if (end - p < PLAIN_GROUP)
		return p;
	for (;;) {
		memcpy(&c, at, sizeof(c));
		escaped = (plain_group)(c - ' ' > '~' - ' ');
		escaped |= (plain_group)(c == '"') | (plain_group)(c == '\\');
		memcpy(half, &escaped, sizeof(half));
		if (half[0] | half[1])
			return p;
		p = at + PLAIN_GROUP;
		if (p == end)
			return end;
		at = end - p < PLAIN_GROUP ? end - PLAIN_GROUP : p;
	}
}

#endif
