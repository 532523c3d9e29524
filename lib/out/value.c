// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Values as text.
 *
 * Kinds of bounded length are formatted first, so that they can be aligned to the
 * right; strings and flags are put directly into the writer, which counts the
 * characters.
 */
#include "out/value.h"

#include "base/size.h"
#include "base/text.h"
#include "base/wide.h"
#include "out/number.h"
#include "out/plain.h"

struct value value_percent(uint64_t part, uint64_t whole)
{
	if (!whole)
		return value_absent();
	return value_u64(wide_mul_div(part, 10000, whole / 2, whole));
}

struct value value_ratio(uint64_t part, uint64_t whole)
{
	if (!whole)
		return value_absent();
	return value_u64(wide_mul_div(part, 1000, whole / 2, whole));
}

const char *value_flag_name(const struct value_flag **flags, uint64_t *bits,
			    char rest[VALUE_TEXT_MAX])
{
	const struct value_flag *f = *flags;

	for (; f && f->name; f++) {
		if (!f->mask || (*bits & f->mask) != f->mask)
			continue;
		*bits &= ~f->mask;
		*flags = f + 1;
		return f->name;
	}
	*flags = NULL;
	if (!*bits)
		return NULL;
	memcpy(rest, "0x", 2);
	*number_hex(rest + 2, *bits, 1) = '\0';
	*bits = 0;
	return rest;
}

char *value_size_text(const struct out *out, uint64_t bytes,
		      char buf[VALUE_TEXT_MAX])
{
	if (!out->exact)
		return size_format(bytes, buf);
	*number_u64(buf, bytes) = '\0';
	return buf;
}

char *value_time_text(const struct out *out, int64_t seconds,
		      char buf[VALUE_TEXT_MAX])
{
	return timefmt_zone(seconds, out->zone ? out->zone(seconds) : 0, buf);
}

/* Formats a value of a kind of bounded length at TO for OUT; returns the end. */
static char *format_value(const struct out *out, enum value_kind kind,
			  const struct value *v, char *to)
{
	uint64_t n = v->number;

	switch (kind) {
	case VALUE_I64:
		if (n <= INT64_MAX)
			return number_u64(to, n);
		*to++ = '-';
		return number_u64(to, 0 - n);
	case VALUE_HEX:
		memcpy(to, "0x", 2);
		return number_hex(to + 2, n, 1);
	case VALUE_SIZE:
		return to + strlen(value_size_text(out, n, to));
	case VALUE_PERCENT:
		n = n / 10 + (n % 10 >= 5);
		to = number_u64(to, n / 10);
		*to++ = '.';
		*to++ = (char)('0' + n % 10);
		*to++ = '%';
		return to;
	case VALUE_RATIO:
		to = number_u64(to, n / 1000);
		*to++ = '.';
		*to++ = (char)('0' + n / 100 % 10);
		memcpy(to, number_pairs + 2 * (n % 100), 2);
		return to + 2;
	case VALUE_TIME:
		return to + strlen(value_time_text(out, (int64_t)n, to));
	case VALUE_BOOL:
		memcpy(to, n ? "yes" : "no", 3);
		return to + (n ? 3 : 2);
	default:
		return number_u64(to, n);
	}
}

void value_put(struct out *out, enum value_kind kind,
	       const struct value_flag *flags, const struct value *v,
	       unsigned int width, bool pad_left)
{
	const unsigned char *p = (const unsigned char *)v->bytes, *run, *end;
	char text[VALUE_TEXT_MAX] = "-", escaped[TEXT_ESCAPED_MAX(4)];
	uint64_t bits = v->number;
	unsigned int shown = 0;
	const char *name;
	size_t n, len;

	if (!v->present || (kind != VALUE_STRING && kind != VALUE_PLAIN &&
			    kind != VALUE_FLAGS)) {
		shown = v->present ?
			(unsigned int)(format_value(out, kind, v, text) - text) : 1;
		if (pad_left && shown < width)
			out_repeat(out, ' ', width - shown);
		out_bytes(out, text, shown);
		if (pad_left)
			return;
	} else if (kind == VALUE_PLAIN) {
		out_bytes(out, v->bytes, v->len);
		shown = (unsigned int)v->len;
	} else if (kind == VALUE_FLAGS) {
		while ((name = value_flag_name(&flags, &bits, text))) {
			if (shown)
				out_char(out, ',');
			shown += shown != 0;
			out_string(out, name);
			shown += (unsigned int)strlen(name);
		}
		if (!shown) {
			out_char(out, '-');
			shown = 1;
		}
	} else {
		for (end = p + v->len; p < end; p += n) {
			run = p;
			p = plain_skip(p, end);
			while (p < end && *p >= 0x20 && *p < 0x7f && *p != '\\')
				p++;
			out_bytes(out, run, (size_t)(p - run));
			shown += (unsigned int)(p - run);
			if (p == end)
				break;
			/* One character that is not plain ASCII. */
			n = text_utf8(p, (size_t)(end - p), NULL);
			n = n ? n : 1;
			len = text_escape(escaped, sizeof(escaped), p, n);
			out_bytes(out, escaped, len);
			/* A sequence that was not escaped is one character. */
			shown += len == n ? 1 : (unsigned int)len;
		}
	}
	if (shown < width)
		out_repeat(out, ' ', width - shown);
}
