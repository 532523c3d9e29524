// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The JSON writer.
 *
 * Its state is a stack of closing brackets, the layout of each open container and
 * whether a comma is due.  Numbers are put in full, including 64-bit ones, which
 * readers that store numbers as doubles round above 2^53.
 */
#include "out/json.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "out/plain.h"

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */

void json_before(struct json *json, const char *key, const char *suffix)
{
	bool wide = json->levels[json->level].wide;
	size_t key_len, suffix_len = suffix ? strlen(suffix) : 0;
	char *to;

	if (json->comma)
		out_char(json->out, ',');
	json->comma = true;
	if (wide) {
		out_char(json->out, '\n');
		out_repeat(json->out, ' ', 2ull * json->depth);
	}
	if (!key || json->levels[json->level].closing != '}')
		return;
	/* The key is put in one step, since a row has a key for each value. */
	key_len = strlen(key);
	to = out_reserve(json->out, key_len + suffix_len + 5);
	*to++ = '"';
	memcpy(to, key, key_len);
	to += key_len;
	if (suffix)
		memcpy(to, suffix, suffix_len);
	to += suffix_len;
	memcpy(to, "\": ", 3);
	json->out->next = to + 2 + wide;
}

void json_open(struct json *json, const char *key, enum json_layout layout,
	       char opening)
{
	bool wide = layout == JSON_WIDE &&
		    (!json->depth || json->levels[json->level].wide);

	json_before(json, key, NULL);
	out_char(json->out, opening);
	json->comma = false;
	if (json->depth++ >= JSON_DEPTH_MAX) {
		if (!json->out->error)
			json->out->error = -EOVERFLOW;
		return;
	}
	json->level = json->depth;
	json->levels[json->level].closing = opening == '{' ? '}' : ']';
	json->levels[json->level].wide = wide;
}

void json_end(struct json *json)
{
	unsigned int i = json->level;

	json->depth--;
	json->level = json->depth < JSON_DEPTH_MAX ? json->depth : JSON_DEPTH_MAX;
	if (json->levels[i].wide && json->comma) {
		out_char(json->out, '\n');
		out_repeat(json->out, ' ', 2ull * json->depth);
	}
	out_char(json->out, json->levels[i].closing);
	json->comma = json->depth > 0;
	if (!json->depth)
		out_char(json->out, '\n');
}

bool json_string(struct json *json, const char *key, const void *bytes,
		 size_t len)
{
	const unsigned char *p = bytes, *end = p + len, *run;
	static const char letters[] = "btn\0fr";	/* from \b to \r */
	bool faithful = true;
	size_t n;

	json_before(json, key, NULL);
	out_char(json->out, '"');
	while (p < end) {
		run = p;
		p = plain_skip(p, end);
		while (p < end && *p >= 0x20 && *p < 0x7f && *p != '"' &&
		       *p != '\\')
			p++;
		out_bytes(json->out, run, (size_t)(p - run));
		if (p == end)
			break;
		n = text_utf8(p, (size_t)(end - p), NULL);
		if (n > 1) {
			out_bytes(json->out, p, n);
		} else if (n == 0) {
			out_string(json->out, REPLACEMENT);
			faithful = false;
			n = 1;
		} else if (*p == '"' || *p == '\\') {
			out_char(json->out, '\\');
			out_char(json->out, (char)*p);
		} else if (*p >= '\b' && *p <= '\r' && letters[*p - '\b']) {
			out_char(json->out, '\\');
			out_char(json->out, letters[*p - '\b']);
		} else {
			out_printf(json->out, "\\u%04x", *p);
		}
		p += n;
	}
	out_char(json->out, '"');
	if (faithful || !key)
		return faithful;
	json_before(json, key, "_hex");
	out_char(json->out, '"');
	for (p = bytes; p < end; p++)
		out_printf(json->out, "%02x", *p);
	out_char(json->out, '"');
	return false;
}
