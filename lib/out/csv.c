// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comma-separated values.
 *
 * What a reader could take for something else is put between quotation marks.
 */
#include "out/csv.h"

#include <string.h>

static void put_value(struct out *out, const struct column *c,
		      const struct value *v)
{
	const struct value_flag *f = c->flags;
	bool quoted = false, first = true;
	enum value_kind kind = c->kind;
	size_t i;

	switch (kind) {
	case VALUE_STRING:
	case VALUE_PLAIN:
		for (i = 0; i < v->len; i++)
			quoted |= strchr("\",\r\n", v->bytes[i]) != NULL;
		if (quoted)
			out_char(out, '"');
		for (i = 0; i < v->len; i++) {
			if (v->bytes[i] == '"')
				out_char(out, '"');
			out_char(out, v->bytes[i]);
		}
		if (quoted)
			out_char(out, '"');
		return;
	case VALUE_FLAGS:
		quoted = v->number & (v->number - 1);
		if (quoted)
			out_char(out, '"');
		for (; f && f->name; f++) {
			if (!(v->number & f->mask))
				continue;
			out_printf(out, "%s%s", first ? "" : ",", f->name);
			first = false;
		}
		if (quoted)
			out_char(out, '"');
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
