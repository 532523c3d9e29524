// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables: rows as text or JSON, without storage.
 *
 * A listing of a large volume has tens of millions of rows, so a row costs one pass
 * over its values: plain numbers are written directly into the buffer, with a fixed
 * width or after a key of known length.  All other kinds use the functions of
 * "out/value.h" and "out/report.h".
 */
#include "out/table.h"

#include "out/number.h"
#include "out/svg.h"

#define WIDTH_MAX 256		/* limits a reservation to less than the buffer */
#define GAP 2			/* spaces between columns */
#define SPARE 16		/* additional bytes of a reservation */

/* How the cells of a kind are aligned, and their class in a page. */
static const struct {
	bool is_right;
	const char *class;
} styles[] = {
	[VALUE_U64] = { true, " class=\"n\"" },
	[VALUE_I64] = { true, " class=\"n\"" },
	[VALUE_HEX] = { true, " class=\"n\"" },
	[VALUE_SIZE] = { true, " class=\"n\"" },
	[VALUE_PERCENT] = { true, " class=\"n\"" },
	[VALUE_RATIO] = { true, " class=\"n\"" },
	[VALUE_TIME] = { false, " class=\"t\"" },
	[VALUE_FLAGS] = { false, "" },
	[VALUE_BOOL] = { false, "" },
	[VALUE_STRING] = { false, "" },
	[VALUE_PLAIN] = { false, "" },
};

void table_begin(struct table *t, struct report *report, const char *name,
		 const struct column *columns, unsigned int count)
{
	unsigned int i, gap = report->indent;
	struct out *out = report->out;
	bool heads = false;

	memset(t, 0, sizeof(*t));
	t->report = report;
	t->name = name;
	t->columns = columns;
	t->count = count < TABLE_COLUMNS_MAX ? count : TABLE_COLUMNS_MAX;
	for (i = 0; i < t->count; i++) {
		const struct column *c = &columns[i];
		size_t head = c->head ? strlen(c->head) : 0;
		size_t width = c->width > head ? c->width : head;

		t->width[i] = width < WIDTH_MAX ? (unsigned int)width :
						  WIDTH_MAX;
		t->key_len[i] = (unsigned int)strlen(c->key);
		heads |= head != 0;
		if (c->head)
			t->last = i;
	}
	t->lines = report_is_at_line(report);
	if (!report_is_text(report)) {
		if (t->lines)
			return;
		report_open_document(report);
		json_open(&report->json, name, JSON_WIDE, '[');
		return;
	}
	report_text_block(report);
	if (report->mode == REPORT_HTML)
		out_string(out, "<div class=\"scroll\"><table><thead><tr>");
	else if (!heads)
		return;
	for (i = 0; i < t->count; i++) {
		const struct column *c = &columns[i];
		struct value head = value_string(c->head);

		if (!head.len)
			continue;
		if (report->mode == REPORT_HTML) {
			out_printf(out, "<th scope=\"col\"%s>",
				   styles[c->kind].class);
			svg_string(out, c->head);
			out_string(out, "</th>");
			continue;
		}
		out_repeat(out, ' ', gap);
		if (styles[c->kind].is_right)
			out_repeat(out, ' ', t->width[i] - head.len);
		value_put(out, VALUE_STRING, NULL, &head,
			  i < t->last && !styles[c->kind].is_right ? t->width[i] : 0,
			  false);
		gap = GAP;
	}
	out_string(out, report->mode == REPORT_HTML ?
		   "</tr></thead><tbody>\n" : "\n");
}

void table_end(struct table *t)
{
	if (t->report->mode == REPORT_HTML)
		out_string(t->report->out, "</tbody></table></div>\n");
	else if (t->report->mode != REPORT_TEXT && !t->lines)
		json_end(&t->report->json);
}

/* N spaces, mostly few, for which the compiler needs no call; see SPARE. */
static inline char *spaces(char *to, unsigned int n)
{
	memset(to, ' ', SPARE);
	if (n > SPARE)
		memset(to + SPARE, ' ', n - SPARE);
	return to + n;
}

void table_row(struct table *t, const struct value *values)
{
	struct report *r = t->report;
	bool text = r->mode == REPORT_TEXT, html = r->mode == REPORT_HTML;
	unsigned int i, gap = r->indent, len;
	struct out *out = r->out;
	char *to;

	if (html)
		out_string(out, "<tr>");
	else if (!text && t->lines)
		report_line_begin(r, t->name);
	else if (!text)
		json_open(&r->json, NULL, JSON_TIGHT, '{');
	for (i = 0; i < t->count; i++) {
		const struct column *c = &t->columns[i];
		const struct value *v = &values[i];
		unsigned int width = t->width[i];

		if ((text && !c->head) || (html && (!c->head || !*c->head)))
			continue;
		if (html) {
			out_printf(out, "<td%s>", styles[c->kind].class);
			report_html_value(out, c->kind, c->flags, v);
			out_string(out, "</td>");
		} else if (text && c->kind == VALUE_U64 && v->present) {
			to = out_reserve(out, WIDTH_MAX + 2 * VALUE_TEXT_MAX);
			len = number_digits(v->number);
			to = spaces(to, gap + (len < width ? width - len : 0));
			out->next = number_write(to, v->number, len);
		} else if (text && c->kind == VALUE_PLAIN && i < t->last &&
			   v->present && v->len <= WIDTH_MAX) {
			to = out_reserve(out, 4ull * WIDTH_MAX);
			len = (unsigned int)v->len;
			to = spaces(to, gap);
			memcpy(to, v->bytes, len);
			out->next = spaces(to + len,
					   len < width ? width - len : 0);
		} else if (text) {
			out_repeat(out, ' ', gap);
			if (i == t->last && !styles[c->kind].is_right)
				width = 0;
			value_put(out, c->kind, c->flags, v, width,
				  styles[c->kind].is_right);
		} else if (v->present && (c->kind == VALUE_U64 ||
					  c->kind == VALUE_HEX ||
					  c->kind == VALUE_SIZE)) {
			/* `"KEY":V` in one step, with a comma if it is due. */
			len = t->key_len[i];
			to = out_reserve(out, len + 4 + OUT_NUMBER_MAX);
			if (r->json.comma)
				*to++ = ',';
			r->json.comma = true;
			*to++ = '"';
			memcpy(to, c->key, len);
			memcpy(to + len, "\":", 2);
			out->next = number_u64(to + len + 2, v->number);
		} else {
			report_json_value(&r->json, c->kind, c->flags, c->key,
					  v);
		}
		gap = GAP;
	}
	if (text || html)
		out_string(out, html ? "</tr>\n" : "\n");
	else
		json_end(&r->json);
}
