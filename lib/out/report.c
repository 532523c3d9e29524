// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reports: one set of calls, four forms; that of HTML has a file of its own.
 *
 * The JSON writer's stack is the report's structure; text needs only how far
 * to indent.  Three places differ by form: where a top-level thing begins (in
 * text an empty line, in JSON the object that is the document, in JSON lines
 * a new line), where it ends, and how a value is put.
 */
#include "out/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "out/number.h"
#include "out/report_html.h"

#define LABEL_WIDTH 26		/* with indentation, colon and space */
#define INDENT 2

void report_init(struct report *r, struct out *out, enum report_mode mode)
{
	memset(r, 0, sizeof(*r));
	r->out = out;
	r->mode = mode;
	json_init(&r->json, out);
}

void report_fini(struct report *r)
{
	if (r->mode != REPORT_JSON || !r->started)
		return;
	json_end(&r->json);
	out_char(r->out, '\n');
}

void report_open_document(struct report *r)
{
	if (r->mode == REPORT_JSON && !r->started)
		json_object(&r->json, NULL, JSON_WIDE);
	r->started = true;
}

void report_line_begin(struct report *r, const char *key)
{
	json_object(&r->json, NULL, JSON_TIGHT);
	json_before(&r->json, "record", NULL);
	out_char(r->out, '"');
	out_string(r->out, key);
	out_char(r->out, '"');
}

void report_line_end(struct report *r)
{
	json_end(&r->json);
	out_char(r->out, '\n');
}

void report_text_block(struct report *r)
{
	if (r->started && !r->depth)
		out_char(r->out, '\n');
	r->started = true;
}

static void push(struct report *r, bool titled)
{
	if (r->depth <= REPORT_DEPTH_MAX) {
		r->titled &= ~(1u << r->depth);
		r->titled |= (uint32_t)titled << r->depth;
	} else if (!r->out->error) {
		r->out->error = -EOVERFLOW;
	}
	r->depth++;
}

/* True where the section closed had a title. */
static bool pop(struct report *r)
{
	r->depth--;
	return r->depth <= REPORT_DEPTH_MAX && r->titled >> r->depth & 1;
}

static void begin_text(struct report *r, const char *title)
{
	report_text_block(r);
	if (title) {
		out_repeat(r->out, ' ', r->indent);
		out_string(r->out, title);
		out_string(r->out, ":\n");
		r->indent += INDENT;
	}
	push(r, title != NULL);
}

void report_begin(struct report *r, const char *key, const char *title)
{
	if (r->mode == REPORT_TEXT) {
		begin_text(r, title);
		return;
	}
	if (r->mode == REPORT_HTML) {
		report_html_begin(r, title);
		push(r, true);
		return;
	}
	if (report_is_at_line(r)) {
		report_line_begin(r, key);
	} else {
		report_open_document(r);
		json_object(&r->json, key, JSON_WIDE);
	}
	push(r, false);
}

void report_list(struct report *r, const char *key)
{
	if (report_is_text(r)) {
		push(r, false);
	} else if (report_is_at_line(r)) {
		r->loose = true;
	} else {
		report_open_document(r);
		json_array(&r->json, key, JSON_WIDE);
		push(r, false);
	}
}

void report_end(struct report *r)
{
	bool titled;

	if (report_is_at_line(r) && r->loose) {
		r->loose = false;
		return;
	}
	titled = pop(r);
	if (r->mode == REPORT_TEXT) {
		if (titled)
			r->indent -= INDENT;
		return;
	}
	if (r->mode == REPORT_HTML) {
		if (titled)
			report_html_end(r);
		return;
	}
	json_end(&r->json);
	if (report_is_at_line(r))
		out_char(r->out, '\n');
}

static void put_json_time(struct json *json, const char *key,
			  const struct value *v)
{
	char iso[TIMEFMT_ISO_MAX];

	json_i64(json, key, (int64_t)v->number);
	json_before(json, key, "_iso");
	out_char(json->out, '"');
	out_string(json->out, timefmt_iso((int64_t)v->number, iso));
	out_char(json->out, '"');
}

static void put_json_name(struct json *json, const char *name)
{
	if (json->comma)
		out_char(json->out, ',');
	json->comma = true;
	out_char(json->out, '"');
	out_string(json->out, name);
	out_char(json->out, '"');
}

static void put_json_flags(struct json *json, const struct value_flag *flags,
			   const char *key, uint64_t bits)
{
	char rest[VALUE_TEXT_MAX] = "0x";

	json_u64(json, key, bits);
	json_before(json, key, "_names");
	out_char(json->out, '[');
	json->comma = false;
	for (; flags && flags->name; flags++) {
		if (!flags->mask || (bits & flags->mask) != flags->mask)
			continue;
		put_json_name(json, flags->name);
		bits &= ~flags->mask;
	}
	if (bits) {
		*number_hex(rest + 2, bits, 1) = '\0';
		put_json_name(json, rest);
	}
	out_char(json->out, ']');
	json->comma = true;
}

static void put_json_percent(struct json *json, const char *key, uint64_t v)
{
	json_before(json, key, NULL);
	out_u64(json->out, v / 100);
	out_char(json->out, '.');
	out_bytes(json->out, number_pairs + 2 * (v % 100), 2);
}

static void put_json_ratio(struct json *json, const char *key, uint64_t v)
{
	char text[VALUE_TEXT_MAX];

	json_before(json, key, NULL);
	out_bytes(json->out, text, (size_t)(number_thousandths(text, v) - text));
}

void report_json_value(struct json *json, enum value_kind kind,
		       const struct value_flag *flags, const char *key,
		       const struct value *v)
{
	if (!v->present) {
		json_null(json, key);
		return;
	}
	switch (kind) {
	case VALUE_I64:
		json_i64(json, key, (int64_t)v->number);
		return;
	case VALUE_PERCENT:
		put_json_percent(json, key, v->number);
		return;
	case VALUE_RATIO:
		put_json_ratio(json, key, v->number);
		return;
	case VALUE_TIME:
		put_json_time(json, key, v);
		return;
	case VALUE_FLAGS:
		put_json_flags(json, flags, key, v->number);
		return;
	case VALUE_BOOL:
		json_bool(json, key, v->number != 0);
		return;
	case VALUE_STRING:
	case VALUE_PLAIN:
		if (!json_bytes(json, key, v->bytes, v->len))
			json_hex(json, key, v->bytes, v->len);
		return;
	default:
		json_u64(json, key, v->number);
	}
}

static void put_text(struct report *r, enum value_kind kind,
		     const struct value_flag *flags, const char *label,
		     const struct value *v)
{
	size_t used = r->indent + strlen(label) + 1;

	out_repeat(r->out, ' ', r->indent);
	out_string(r->out, label);
	out_char(r->out, ':');
	out_repeat(r->out, ' ', used < LABEL_WIDTH ? LABEL_WIDTH - used : 1);
	value_put(r->out, kind, flags, v, 0, false);
	out_char(r->out, '\n');
}

static void put_value(struct report *r, enum value_kind kind,
		      const struct value_flag *flags, const char *key,
		      const char *label, const struct value *v)
{
	bool line = report_is_at_line(r);

	report_open_document(r);
	if (r->mode == REPORT_TEXT) {
		put_text(r, kind, flags, label, v);
		return;
	}
	if (r->mode == REPORT_HTML) {
		report_html_value(r, kind, flags, label, v);
		return;
	}
	if (line)
		report_line_begin(r, key);
	report_json_value(&r->json, kind, flags, key, v);
	if (line)
		report_line_end(r);
}

void report_value(struct report *r, enum value_kind kind, const char *key,
		  const char *label, struct value v)
{
	put_value(r, kind, NULL, key, label, &v);
}

void report_flags(struct report *r, const struct value_flag *flags,
		  const char *key, const char *label, uint64_t bits)
{
	struct value v = value_u64(bits);

	put_value(r, VALUE_FLAGS, flags, key, label, &v);
}

void report_text(struct report *r, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!report_is_text(r))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (r->mode == REPORT_HTML) {
		report_html_text(r, "note", line);
		return;
	}
	r->started = true;
	out_repeat(r->out, ' ', r->indent);
	out_string(r->out, line);
	out_char(r->out, '\n');
}

void report_fail(struct report *r, const char *message, int status)
{
	bool open = r->mode == REPORT_JSON && r->started;

	if (report_is_text(r))
		return;
	if (r->mode == REPORT_JSON_LINES && r->json.depth) {
		while (r->json.depth)
			json_end(&r->json);
		out_char(r->out, '\n');
	}
	while (r->json.depth > (open ? 1u : 0u))
		json_end(&r->json);
	r->depth = 0;
	r->loose = false;
	report_begin(r, "error", NULL);
	report_string(r, "message", "", message);
	report_u64(r, "status", "", (uint64_t)status);
	report_end(r);
	report_fini(r);
}

void report_problem(struct report *r, const char *text)
{
	if (r->mode == REPORT_HTML)
		report_html_text(r, "problem", text);
}
