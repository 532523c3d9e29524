// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names from a disk as text that is safe to show.
 *
 * The result does not depend on the terminal or the locale, so that logs and
 * JSON are the same everywhere.
 */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How many bytes the UTF-8 character with this first byte has, 0 if none. */
static size_t char_size(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/*
 * Decodes the character at P.  Returns its bytes, or 0 if that is no UTF-8:
 * cut short, longer than needed, a surrogate, past U+10FFFF.
 */
static size_t decode(const unsigned char *p, size_t len, uint32_t *code)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t i, n = char_size(*p);

	if (!n || n > len)
		return 0;
	*code = n == 1 ? *p : *p & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (*code < least[n] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return n;
}

/* Control characters, line separators, marks that change the direction. */
static bool is_harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||
	       code == 0x061c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/* Writes the first character at P into OUT; returns the bytes it took of P. */
static size_t escape_one(const unsigned char *p, size_t len, char out[4],
			 size_t *out_len)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t code = 0;
	size_t n = decode(p, len, &code);

	if (n && code == '\\') {
		memcpy(out, "\\\\", 2);
		*out_len = 2;
		return 1;
	}
	if (n && !is_harmful(code)) {
		memcpy(out, p, n);
		*out_len = n;
		return n;
	}
	/* Of a harmful character the bytes after the first are no UTF-8. */
	out[0] = '\\';
	out[1] = 'x';
	out[2] = digits[*p >> 4];
	out[3] = digits[*p & 15];
	*out_len = 4;
	return 1;
}

size_t text_escape(char *buf, size_t size, const void *name, size_t len)
{
	const unsigned char *p = name;
	size_t used = 0;

	while (len) {
		char out[4];
		size_t out_len, taken = escape_one(p, len, out, &out_len);

		if (out_len >= size - used)
			break;
		memcpy(buf + used, out, out_len);
		used += out_len;
		p += taken;
		len -= taken;
	}
	buf[used] = '\0';
	return used;
}

size_t text_utf8(const void *bytes, size_t len)
{
	uint32_t code;

	return decode(bytes, len, &code);
}

int text_base(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}
