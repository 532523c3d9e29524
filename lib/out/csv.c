// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comma-separated values.
 *
 * What a reader could take for something else is put between quotation marks.
 */
#include "out/csv.h"

#include <string.h>

static bool is_plain(const char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (strchr("\",\r\n", bytes[i]))
			return false;
	return true;
}

static void put_string(struct out *out, const char *bytes, size_t len)
{
	size_t i;

	if (is_plain(bytes, len)) {
		out_bytes(out, bytes, len);
		return;
	}
	out_char(out, '"');
	for (i = 0; i < len; i++) {
		if (bytes[i] == '"')
			out_char(out, '"');
		out_char(out, bytes[i]);
	}
	out_char(out, '"');
}

static void put_flags(struct out *out, const struct value_flag *flags,
		      uint64_t bits)
{
	bool several = bits & (bits - 1), first = true;

	if (several)
		out_char(out, '"');
	for (; flags && flags->name; flags++) {
		if (!(bits & flags->mask))
			continue;
		if (!first)
			out_char(out, ',');
		out_string(out, flags->name);
		first = false;
	}
	if (several)
		out_char(out, '"');
}

static void put_value(struct out *out, const struct column *c,
		      const struct value *v)
{
	enum value_kind kind = c->kind;

	switch (kind) {
	case VALUE_STRING:
	case VALUE_PLAIN:
		put_string(out, v->bytes, v->len);
		return;
	case VALUE_FLAGS:
		put_flags(out, c->flags, v->number);
		return;
	case VALUE_BOOL:
		out_string(out, v->number ? "true" : "false");
		return;
	case VALUE_SIZE:
	case VALUE_HEX:
	case VALUE_TIME:
		kind = VALUE_U64;
		break;
	default:
		break;
	}
	value_put(out, kind, NULL, v, 0, false);
}

void csv_head(struct out *out, const struct column *columns,
	      unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (i)
			out_char(out, ',');
		out_string(out, columns[i].key);
	}
	out_char(out, '\n');
}

void csv_row(struct out *out, const struct column *columns,
	     unsigned int count, const struct value *values)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (i)
			out_char(out, ',');
		if (values[i].present)
			put_value(out, &columns[i], &values[i]);
	}
	out_char(out, '\n');
}
