// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text: names from a disk that are safe to print, hashes of names, bases of numbers.
 *
 * The result does not depend on the terminal or the locale, so that logs and
 * JSON are the same everywhere.
 */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t text_utf8(const void *bytes, size_t len, uint32_t *code)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = bytes;
	size_t i, n = 0;
	uint32_t v;

	if (*p < 0x80)
		n = 1;
	else if (*p >= 0xc2 && *p <= 0xdf)
		n = 2;
	else if (*p >= 0xe0 && *p <= 0xef)
		n = 3;
	else if (*p >= 0xf0 && *p <= 0xf4)
		n = 4;
	if (!n || n > len)
		return 0;
	v = n == 1 ? *p : *p & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	if (code)
		*code = v;
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

size_t text_escape(char *buf, size_t size, const void *name, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = name;
	size_t taken, out_len, used = 0;
	uint32_t code = 0;

	for (; len; p += taken, len -= taken, used += out_len) {
		char out[4] = { '\\', 'x', digits[*p >> 4], digits[*p & 15] };

		taken = text_utf8(p, len, &code);
		out_len = taken;
		if (taken && code == '\\') {
			out[1] = '\\';
			out_len = 2;
		} else if (taken && !is_harmful(code)) {
			memcpy(out, p, taken);
		} else {
			/* The other bytes of a harmful character are escaped as invalid
			   UTF-8. */
			taken = 1;
			out_len = 4;
		}
		if (out_len >= size - used)
			break;
		memcpy(buf + used, out, out_len);
	}
	buf[used] = '\0';
	return used;
}

int text_base(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}
