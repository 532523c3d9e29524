// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Values as text.
 *
 * Kinds of bounded length are formatted into a few bytes of the caller, so
 * that a table can align them without looking twice; strings and flags are
 * put straight into the writer, counting the characters on the way.
 */
#include "out/value.h"

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

/* The ISO form with a space for the T and without the Z. */
static char *format_time(int64_t seconds, char *to)
{
	char *end = to + strlen(timefmt_iso(seconds, to));

	*strchr(to, 'T') = ' ';
	return end - 1;
}

static char *format_size(uint64_t v, char *to)
{
	const char *unit = "KMGTPE";

	if (v == 0 || v % 1024)
		return number_u64(to, v);
	for (v /= 1024; v % 1024 == 0; v /= 1024)
		unit++;
	to = number_u64(to, v);
	*to++ = *unit;
	return to;
}

static char *format_percent(uint64_t hundredths, char *to)
{
	uint64_t tenths = hundredths / 10 + (hundredths % 10 >= 5);

	to = number_u64(to, tenths / 10);
	*to++ = '.';
	*to++ = (char)('0' + tenths % 10);
	*to++ = '%';
	return to;
}

/*
 * Writes the text form of a present value, not STRING, PLAIN or FLAGS, at TO,
 * which has VALUE_TEXT_MAX bytes, and returns the end.
 */
static char *value_format(enum value_kind kind, const struct value *v, char *to)
{
	switch (kind) {
	case VALUE_I64:
		return number_i64(to, (int64_t)v->number);
	case VALUE_HEX:
		memcpy(to, "0x", 2);
		return number_hex(to + 2, v->number, 1);
	case VALUE_SIZE:
		return format_size(v->number, to);
	case VALUE_PERCENT:
		return format_percent(v->number, to);
	case VALUE_RATIO:
		return number_thousandths(to, v->number);
	case VALUE_TIME:
		return format_time((int64_t)v->number, to);
	case VALUE_BOOL:
		memcpy(to, v->number ? "yes" : "no", 3);
		return to + (v->number ? 3 : 2);
	default:
		return number_u64(to, v->number);
	}
}

/* Puts one character that is not plain ASCII; returns the bytes it took. */
static size_t put_special(struct out *out, const unsigned char *p, size_t len,
			  unsigned int *shown)
{
	char text[TEXT_ESCAPED_MAX(4)];
	size_t n = text_utf8(p, len), shown_len;

	if (!n)
		n = 1;
	shown_len = text_escape(text, sizeof(text), p, n);
	out_bytes(out, text, shown_len);
	/* What was not escaped is one character, of however many bytes. */
	*shown += shown_len == n ? 1 : (unsigned int)shown_len;
	return n;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '\\';
}

/* Puts a string with escapes; returns the characters shown. */
static unsigned int put_string(struct out *out, const struct value *v)
{
	const unsigned char *p = (const unsigned char *)v->bytes, *run;
	const unsigned char *end = p + v->len;
	unsigned int shown = 0;

	while (p < end) {
		run = p;
		for (p = plain_skip(p, end); p < end && is_plain(*p); p++)
			;
		out_bytes(out, run, (size_t)(p - run));
		shown += (unsigned int)(p - run);
		if (p < end)
			p += put_special(out, p, (size_t)(end - p), &shown);
	}
	return shown;
}

static unsigned int put_plain(struct out *out, const struct value *v)
{
	out_bytes(out, v->bytes, v->len);
	return (unsigned int)v->len;
}

static unsigned int put_name(struct out *out, const char *name, bool first)
{
	if (!first)
		out_char(out, ',');
	out_string(out, name);
	return (unsigned int)strlen(name) + !first;
}

/* Puts the names of the bits set, and one number for those without. */
static unsigned int put_flags(struct out *out, const struct value_flag *flags,
			      uint64_t bits)
{
	unsigned int shown = 0;
	char rest[VALUE_TEXT_MAX];

	for (; flags && flags->name; flags++) {
		if (!flags->mask || (bits & flags->mask) != flags->mask)
			continue;
		shown += put_name(out, flags->name, !shown);
		bits &= ~flags->mask;
	}
	if (bits) {
		memcpy(rest, "0x", 2);
		*number_hex(rest + 2, bits, 1) = '\0';
		shown += put_name(out, rest, !shown);
	}
	if (!shown)
		shown = put_name(out, "-", true);
	return shown;
}

static void put_short(struct out *out, enum value_kind kind,
		      const struct value *v, unsigned int width,
		      bool pad_left)
{
	char text[VALUE_TEXT_MAX] = "-";
	char *end = v->present ? value_format(kind, v, text) : text + 1;
	unsigned int len = (unsigned int)(end - text);
	unsigned int pad = len < width ? width - len : 0;

	if (pad_left)
		out_repeat(out, ' ', pad);
	out_bytes(out, text, len);
	if (!pad_left)
		out_repeat(out, ' ', pad);
}

/* Kinds whose text has any length. */
static bool is_long(enum value_kind kind)
{
	return kind == VALUE_STRING || kind == VALUE_PLAIN ||
	       kind == VALUE_FLAGS;
}

void value_put(struct out *out, enum value_kind kind,
	       const struct value_flag *flags, const struct value *v,
	       unsigned int width, bool pad_left)
{
	unsigned int shown;

	if (!v->present || !is_long(kind)) {
		put_short(out, kind, v, width, pad_left);
		return;
	}
	if (kind == VALUE_STRING)
		shown = put_string(out, v);
	else if (kind == VALUE_PLAIN)
		shown = put_plain(out, v);
	else
		shown = put_flags(out, flags, v->number);
	if (shown < width)
		out_repeat(out, ' ', width - shown);
}
