// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text inside SVG and HTML.
 *
 * Labels and names come from the disk and may be made to break out of an
 * attribute or to forge an element.  They pass through two steps: what cannot
 * be shown is escaped as in text for a terminal, then the five characters of
 * markup become entities.  Neither is left to callers.
 */
#include "out/markup.h"

#include "base/text.h"

static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void put_escaped(struct out *out, const char *text, size_t len)
{
	const char *entity;
	size_t i, run = 0;

	for (i = 0; i < len; i++) {
		entity = entity_of(text[i]);
		if (!entity)
			continue;
		out_bytes(out, text + run, i - run);
		out_string(out, entity);
		run = i + 1;
	}
	out_bytes(out, text + run, len - run);
}

/* Puts the character at BYTES and returns how long it is there. */
static size_t put_one(struct out *out, const char *bytes, size_t len)
{
	char text[TEXT_ESCAPED_MAX(4)];
	size_t n = text_utf8(bytes, len);

	if (!n)
		n = 1;
	put_escaped(out, text, text_escape(text, sizeof(text), bytes, n));
	return n;
}

void markup_bytes(struct out *out, const void *bytes, size_t len)
{
	const char *p = bytes, *end = p + len;

	while (p < end)
		p += put_one(out, p, (size_t)(end - p));
}

void markup_cut(struct out *out, const char *s, size_t most)
{
	size_t len = strlen(s), at = 0, count = 0, n;

	for (; at < len; at += n, count++) {
		n = text_utf8(s + at, len - at);
		if (!n)
			n = 1;
	}
	for (at = 0; at < len && (count <= most || most > 1); most--, count--)
		at += put_one(out, s + at, len - at);
	if (at < len)
		out_string(out, "\xe2\x80\xa6");
}
