// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comma-separated values.
 *
 * Values with special characters are put between quotation marks.
 */
#include "out/csv.h"

#include <string.h>

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
	bool quoted;
	size_t k;

	for (i = 0; i < count; i++) {
		const struct value_flag *f = columns[i].flags;
		enum value_kind kind = columns[i].kind;
		const struct value *v = &values[i];
		const char *comma = "";

		if (i)
			out_char(out, ',');
		if (!v->present)
			continue;
		quoted = kind == VALUE_FLAGS && v->number & (v->number - 1);
		if (kind == VALUE_STRING || kind == VALUE_PLAIN)
			for (k = 0; k < v->len; k++)
				quoted |= strchr("\",\r\n", v->bytes[k]) != NULL;
		if (quoted)
			out_char(out, '"');
		switch (kind) {
		case VALUE_STRING:
		case VALUE_PLAIN:
			for (k = 0; k < v->len; k++) {
				if (v->bytes[k] == '"')
					out_char(out, '"');
				out_char(out, v->bytes[k]);
			}
			break;
		case VALUE_FLAGS:
			for (; f && f->name; f++) {
				if (!(v->number & f->mask))
					continue;
				out_printf(out, "%s%s", comma, f->name);
				comma = ",";
			}
			break;
		case VALUE_BOOL:
			out_string(out, v->number ? "true" : "false");
			break;
		case VALUE_SIZE:
		case VALUE_HEX:
		case VALUE_TIME:
			out_u64(out, v->number);
			break;
		default:
			value_put(out, kind, NULL, v, 0, false);
		}
		if (quoted)
			out_char(out, '"');
	}
	out_char(out, '\n');
}
