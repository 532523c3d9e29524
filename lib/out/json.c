// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The JSON writer.
 *
 * Its state is a stack of closing brackets, the layout of each open container
 * and whether a comma is due; that is all JSON's grammar asks for.  Numbers
 * are put as they are: 64-bit ones too, which readers that hold numbers as
 * doubles round above 2^53.
 */
#include "out/json.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "out/plain.h"

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */

void json_init(struct json *json, struct out *out)
{
	memset(json, 0, sizeof(*json));
	json->out = out;
}

static unsigned int inner(const struct json *json)
{
	return json->depth <= JSON_DEPTH_MAX ? json->depth : JSON_DEPTH_MAX;
}

static bool is_wide(const struct json *json)
{
	return json->depth && json->layout[inner(json) - 1] == JSON_WIDE;
}

static bool is_in_array(const struct json *json)
{
	return json->depth && json->closing[inner(json) - 1] == ']';
}

static void break_line(struct json *json)
{
	out_char(json->out, '\n');
	out_repeat(json->out, ' ', 2ull * json->depth);
}

/* Writes LEN bytes at TO and returns what follows. */
static char *append(char *to, const char *bytes, size_t len)
{
	memcpy(to, bytes, len);
	return to + len;
}

/* In one piece, since a row has a key for each value. */
static void put_key(struct json *json, const char *key, const char *suffix)
{
	size_t key_len = strlen(key), suffix_len = suffix ? strlen(suffix) : 0;
	char *to = out_reserve(json->out, key_len + suffix_len + 4);

	*to++ = '"';
	to = append(to, key, key_len);
	if (suffix)
		to = append(to, suffix, suffix_len);
	*to++ = '"';
	*to++ = ':';
	if (is_wide(json))
		*to++ = ' ';
	out_commit(json->out, to);
}

void json_before(struct json *json, const char *key, const char *suffix)
{
	if (json->comma)
		out_char(json->out, ',');
	json->comma = true;
	if (is_wide(json))
		break_line(json);
	if (key && json->depth && !is_in_array(json))
		put_key(json, key, suffix);
}

static void open_container(struct json *json, const char *key,
			   enum json_layout layout, char opening, char closing)
{
	bool tight = layout == JSON_TIGHT || (json->depth && !is_wide(json));

	json_before(json, key, NULL);
	out_char(json->out, opening);
	json->comma = false;
	if (json->depth < JSON_DEPTH_MAX) {
		json->closing[json->depth] = (unsigned char)closing;
		json->layout[json->depth] = tight ? JSON_TIGHT : JSON_WIDE;
	} else if (!json->out->error) {
		json->out->error = -EOVERFLOW;
	}
	json->depth++;
}

void json_object(struct json *json, const char *key, enum json_layout layout)
{
	open_container(json, key, layout, '{', '}');
}

void json_array(struct json *json, const char *key, enum json_layout layout)
{
	open_container(json, key, layout, '[', ']');
}

void json_end(struct json *json)
{
	bool wide = is_wide(json) && json->comma;
	char closing = (char)json->closing[inner(json) - 1];

	json->depth--;
	if (wide)
		break_line(json);
	out_char(json->out, closing);
	json->comma = json->depth > 0;
}

void json_u64(struct json *json, const char *key, uint64_t v)
{
	json_before(json, key, NULL);
	out_u64(json->out, v);
}

void json_i64(struct json *json, const char *key, int64_t v)
{
	json_before(json, key, NULL);
	out_i64(json->out, v);
}

void json_bool(struct json *json, const char *key, bool v)
{
	json_before(json, key, NULL);
	out_string(json->out, v ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	json_before(json, key, NULL);
	out_string(json->out, "null");
}

/* Puts the escape of an ASCII character that may not stand in a string. */
static void put_escape(struct out *out, unsigned char c)
{
	static const char letters[] = "btn\0fr";	/* from \b to \r */

	out_char(out, '\\');
	if (c == '"' || c == '\\')
		out_char(out, (char)c);
	else if (c >= '\b' && c <= '\r' && letters[c - '\b'])
		out_char(out, letters[c - '\b']);
	else
		out_printf(out, "u%04x", c);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Puts what is not plain at P and returns its length; clears *FAITHFUL. */
static size_t put_special(struct out *out, const unsigned char *p, size_t len,
			  bool *faithful)
{
	size_t n = text_utf8(p, len);

	if (n == 0) {
		out_string(out, REPLACEMENT);
		*faithful = false;
		return 1;
	}
	if (n == 1)
		put_escape(out, *p);
	else
		out_bytes(out, p, n);
	return n;
}

bool json_bytes(struct json *json, const char *key, const void *bytes,
		size_t len)
{
	const unsigned char *p = bytes, *end = p + len, *run;
	bool faithful = true;

	json_before(json, key, NULL);
	out_char(json->out, '"');
	while (p < end) {
		run = p;
		for (p = plain_skip(p, end); p < end && is_plain(*p); p++)
			;
		out_bytes(json->out, run, (size_t)(p - run));
		if (p < end)
			p += put_special(json->out, p, (size_t)(end - p),
					 &faithful);
	}
	out_char(json->out, '"');
	return faithful;
}

void json_hex(struct json *json, const char *key, const void *bytes,
	      size_t len)
{
	const unsigned char *p = bytes, *end = p + len;

	json_before(json, key, "_hex");
	out_char(json->out, '"');
	for (; p < end; p++)
		out_hex(json->out, *p, 2);
	out_char(json->out, '"');
}
