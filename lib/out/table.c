// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables: rows in, text or JSON out, nothing kept.
 *
 * A listing of a large volume has tens of millions of rows, so a row costs
 * one pass over its values: plain numbers go straight into the writer's
 * buffer, at a width or after a key whose length was measured once.  All
 * other kinds take the general way of "out/value.h" and "out/report.h".
 */
#include "out/table.h"

#include "out/number.h"
#include "out/report_html.h"

#define WIDTH_MAX 256		/* keeps a reservation far below the buffer */
#define GAP 2			/* spaces between columns */
#define SPARE 16		/* bytes of a reservation beyond what is put */

static bool is_right(enum value_kind kind)
{
	return kind != VALUE_STRING && kind != VALUE_PLAIN &&
	       kind != VALUE_FLAGS && kind != VALUE_BOOL &&
	       kind != VALUE_TIME;
}

static unsigned int least_width(const struct column *c)
{
	size_t head = c->head ? strlen(c->head) : 0;
	size_t width = c->width > head ? c->width : head;

	return width < WIDTH_MAX ? (unsigned int)width : WIDTH_MAX;
}

static void put_heads(const struct table *t)
{
	struct out *out = t->report->out;
	unsigned int i, gap = t->report->indent;

	for (i = 0; i <= t->last; i++) {
		const struct column *c = &t->columns[i];
		struct value head = value_string(c->head);
		size_t len = c->head ? strlen(c->head) : 0;

		if (!len)
			continue;
		out_repeat(out, ' ', gap);
		if (is_right(c->kind))
			out_repeat(out, ' ', t->width[i] - len);
		value_put(out, VALUE_STRING, NULL, &head,
			  i < t->last && !is_right(c->kind) ? t->width[i] : 0,
			  false);
		gap = GAP;
	}
	out_char(out, '\n');
}

static void begin_text(struct table *t)
{
	bool heads = false;
	unsigned int i;

	for (i = 0; i < t->count; i++) {
		if (!t->columns[i].head)
			continue;
		t->last = i;
		heads |= t->columns[i].head[0] != '\0';
	}
	report_text_block(t->report);
	if (heads)
		put_heads(t);
}

void table_begin(struct table *t, struct report *report, const char *name,
		 const struct column *columns, unsigned int count)
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	t->report = report;
	t->name = name;
	t->columns = columns;
	t->count = count < TABLE_COLUMNS_MAX ? count : TABLE_COLUMNS_MAX;
	for (i = 0; i < t->count; i++) {
		t->width[i] = least_width(&columns[i]);
		t->key_len[i] = (unsigned int)strlen(columns[i].key);
	}
	t->lines = report_is_at_line(report);
	if (report->mode == REPORT_TEXT)
		begin_text(t);
	if (report->mode == REPORT_HTML)
		report_html_table(report, columns, t->count);
	if (report_is_text(report) || t->lines)
		return;
	report_open_document(report);
	json_array(&report->json, name, JSON_WIDE);
}

void table_end(struct table *t)
{
	if (t->report->mode == REPORT_HTML)
		report_html_table_end(t->report);
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

/* Puts GAP spaces and V at the right end of WIDTH characters. */
static void put_number(struct out *out, unsigned int gap, uint64_t v,
		       unsigned int width)
{
	char *to = out_reserve(out, WIDTH_MAX + 2 * VALUE_TEXT_MAX);
	unsigned int digits = number_digits(v);
	unsigned int pad = gap + (digits < width ? width - digits : 0);

	out_commit(out, number_write(spaces(to, pad), v, digits));
}

/* Puts GAP spaces and V at the left end of WIDTH characters. */
static void put_plain(struct out *out, unsigned int gap, const struct value *v,
		      unsigned int width)
{
	unsigned int len = (unsigned int)v->len;
	char *to = out_reserve(out, 4ull * WIDTH_MAX);

	to = spaces(to, gap);
	memcpy(to, v->bytes, len);
	out_commit(out, spaces(to + len, len < width ? width - len : 0));
}

static void put_text_row(const struct table *t, const struct value *values)
{
	struct out *out = t->report->out;
	unsigned int i, gap = t->report->indent;

	for (i = 0; i <= t->last; i++) {
		const struct column *c = &t->columns[i];
		bool right = is_right(c->kind);

		if (!c->head)
			continue;
		if (c->kind == VALUE_U64 && values[i].present) {
			put_number(out, gap, values[i].number, t->width[i]);
		} else if (c->kind == VALUE_PLAIN && i < t->last &&
			   values[i].present && values[i].len <= WIDTH_MAX) {
			put_plain(out, gap, &values[i], t->width[i]);
		} else {
			out_repeat(out, ' ', gap);
			value_put(out, c->kind, c->flags, &values[i],
				  i < t->last || right ? t->width[i] : 0,
				  right);
		}
		gap = GAP;
	}
	out_char(out, '\n');
}

/* Puts `"KEY":V` with a comma before it where one is due. */
static void put_member(struct json *json, const char *key, unsigned int len,
		       uint64_t v)
{
	char *to = out_reserve(json->out, len + 4 + OUT_NUMBER_MAX);

	if (json->comma)
		*to++ = ',';
	json->comma = true;
	*to++ = '"';
	memcpy(to, key, len);
	to += len;
	*to++ = '"';
	*to++ = ':';
	out_commit(json->out, number_u64(to, v));
}

static bool is_plain_number(enum value_kind kind)
{
	return kind == VALUE_U64 || kind == VALUE_HEX || kind == VALUE_SIZE;
}

static void put_json_row(const struct table *t, const struct value *values)
{
	struct json *json = &t->report->json;
	unsigned int i;

	for (i = 0; i < t->count; i++) {
		const struct column *c = &t->columns[i];

		if (is_plain_number(c->kind) && values[i].present)
			put_member(json, c->key, t->key_len[i],
				   values[i].number);
		else
			report_json_value(json, c->kind, c->flags, c->key,
					  &values[i]);
	}
}

void table_row(struct table *t, const struct value *values)
{
	struct report *r = t->report;

	if (r->mode == REPORT_TEXT) {
		put_text_row(t, values);
		return;
	}
	if (r->mode == REPORT_HTML) {
		report_html_row(r, t->columns, t->count, values);
		return;
	}
	if (t->lines)
		report_line_begin(r, t->name);
	else
		json_object(&r->json, NULL, JSON_TIGHT);
	put_json_row(t, values);
	if (t->lines)
		report_line_end(r);
	else
		json_end(&r->json);
}
