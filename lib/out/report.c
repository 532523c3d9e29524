// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reports: one set of calls, four formats.
 *
 * The structure of the report is the JSON writer's stack; text and pages need only
 * its depth.  Three places differ by format: the beginning of a top-level item (in
 * text an empty line, in JSON the object of the document, in JSON lines a new line),
 * its end, and a value.
 *
 * A page forbids itself scripts and requests, so that unescaped content of a volume
 * would do no harm.  Wide tables scroll inside their own box, not the page.
 */
#include "out/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/size.h"
#include "out/number.h"
#include "out/svg.h"

#define LABEL_WIDTH 26		/* with indentation, colon and space */
#define INDENT 2
#define HEADING_LAST 6u		/* of HTML */

static const char style[] =
	"body{margin:0;background:var(--page);color:var(--ink);"
	"font:14px/1.5 system-ui,sans-serif}\n"
	"main{max-width:940px;margin:0 auto;padding:24px 20px}\n"
	"h1{font-size:24px;margin:0;overflow-wrap:anywhere}"
	"h2{font-size:18px;margin:36px 0 8px;padding-bottom:4px;"
	"border-bottom:1px solid var(--line)}"
	"h3,h4,h5,h6{font-size:14px;margin:20px 0 4px}\n"
	".note{color:var(--dim);margin:6px 0;overflow-wrap:anywhere}"
	".problem{border-left:4px solid var(--mark);padding:2px 10px;margin:8px 0;"
	"overflow-wrap:anywhere}\n"
	".scroll{overflow-x:auto}table{border-collapse:collapse;margin:6px 0}"
	"th,td{padding:3px 12px 3px 0;text-align:left;vertical-align:top}"
	"thead th{color:var(--dim);font-weight:600;font-size:12px;"
	"white-space:nowrap;border-bottom:1px solid var(--line)}\n"
	"tbody tr+tr>*{border-top:1px solid var(--line)}"
	"tbody th{color:var(--dim);font-weight:400;width:15em}"
	"td{overflow-wrap:anywhere}.t{white-space:nowrap}"
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	".panel{display:block;box-sizing:border-box;width:100%;margin:8px 0;"
	"overflow:visible;font-size:12px}\n"
	"@media(max-width:600px){.odd{display:none}main{padding:16px 12px}}\n";

void report_html_open(struct report *r, const char *title, const char *subtitle)
{
	struct out *out = r->out;

	r->mode = REPORT_HTML;
	out->zone = NULL;
	out_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		   "<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" "
		   "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
		   "<meta name=\"viewport\" "
		   "content=\"width=device-width, initial-scale=1\">\n<title>");
	svg_string(out, title);
	out_printf(out, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n"
		   "<h1>", svg_style, style);
	svg_string(out, title);
	out_string(out, "</h1>\n<p class=\"note\">");
	svg_string(out, subtitle);
	out_string(out, "</p>\n");
}

void report_html_value(struct out *out, enum value_kind kind,
		       const struct value_flag *flags, const struct value *v)
{
	char text[SIZE_TEXT_MAX];

	if (!v->present)
		out_string(out, "\xe2\x80\x93");
	else if (kind == VALUE_STRING || kind == VALUE_PLAIN)
		svg_escape(out, v->bytes, v->len);
	else if (kind == VALUE_SIZE)
		/* In the largest unit; a tooltip has the bytes. */
		out_printf(out, "<span title=\"%llu bytes\">%s</span>",
			   (unsigned long long)v->number,
			   size_format(v->number, text));
	else
		value_put(out, kind, flags, v, 0, false);
}

void report_init(struct report *r, struct out *out, enum report_mode mode)
{
	memset(r, 0, sizeof(*r));
	r->out = out;
	r->mode = mode;
	r->json.out = out;
}

void report_fini(struct report *r)
{
	if (r->mode == REPORT_JSON && r->started)
		json_end(&r->json);
	else if (r->mode == REPORT_HTML)
		out_string(r->out, "</main>\n</body>\n</html>\n");
}

void report_open_document(struct report *r)
{
	if (r->mode == REPORT_JSON && !r->started)
		json_open(&r->json, NULL, JSON_WIDE, '{');
	r->started = true;
}

void report_line_begin(struct report *r, const char *key)
{
	json_open(&r->json, NULL, JSON_TIGHT, '{');
	json_string(&r->json, "record", key, strlen(key));
}

void report_text_block(struct report *r)
{
	if (r->mode == REPORT_HTML && r->grid)
		out_string(r->out, "</tbody></table>\n");
	else if (r->mode == REPORT_TEXT && r->started && !r->depth)
		out_char(r->out, '\n');
	r->grid = false;
	r->started = true;
}

/* Opens one more section or list; only a section has an end of its own. */
static void push_section(struct report *r, bool section)
{
	if (r->depth <= REPORT_DEPTH_MAX) {
		r->sections &= ~(1u << r->depth);
		r->sections |= (uint32_t)section << r->depth;
	} else if (!r->out->error) {
		r->out->error = -EOVERFLOW;
	}
	r->depth++;
}

void report_begin(struct report *r, const char *key, const char *title)
{
	unsigned int level = r->depth + 2;

	if (report_is_text(r)) {
		report_text_block(r);
	} else if (report_is_at_line(r)) {
		report_line_begin(r, key);
	} else {
		report_open_document(r);
		json_open(&r->json, key, JSON_WIDE, '{');
	}
	if (r->mode == REPORT_HTML)
		out_string(r->out, "<section>\n");
	if (r->mode == REPORT_HTML && title) {
		level = level < HEADING_LAST ? level : HEADING_LAST;
		out_printf(r->out, "<h%u>", level);
		svg_string(r->out, title);
		out_printf(r->out, "</h%u>\n", level);
	} else if (r->mode == REPORT_TEXT && title) {
		out_repeat(r->out, ' ', r->indent);
		out_string(r->out, title);
		out_string(r->out, ":\n");
		r->indent += INDENT;
	}
	push_section(r, title || r->mode != REPORT_TEXT);
}

void report_list(struct report *r, const char *key)
{
	if (report_is_at_line(r)) {
		r->loose = true;
		return;
	}
	if (!report_is_text(r)) {
		report_open_document(r);
		json_open(&r->json, key, JSON_WIDE, '[');
	}
	push_section(r, false);
}

void report_end(struct report *r)
{
	bool section;

	if (report_is_at_line(r) && r->loose) {
		r->loose = false;
		return;
	}
	r->depth--;
	section = r->depth <= REPORT_DEPTH_MAX && r->sections >> r->depth & 1;
	if (!report_is_text(r)) {
		json_end(&r->json);
	} else if (section && r->mode == REPORT_HTML) {
		report_text_block(r);
		out_string(r->out, "</section>\n");
	} else if (section) {
		r->indent -= INDENT;
	}
}

void report_json_value(struct json *json, enum value_kind kind,
		       const struct value_flag *flags, const char *key,
		       const struct value *v)
{
	char text[VALUE_TEXT_MAX];
	uint64_t bits = v->number;
	const char *name;

	if (v->present && (kind == VALUE_STRING || kind == VALUE_PLAIN)) {
		json_string(json, key, v->bytes, v->len);
		return;
	}
	json_before(json, key, NULL);
	if (!v->present) {
		out_string(json->out, "null");
		return;
	}
	switch (kind) {
	case VALUE_I64:
	case VALUE_RATIO:
		value_put(json->out, kind, NULL, v, 0, false);
		return;
	case VALUE_PERCENT:
		out_u64(json->out, v->number / 100);
		out_char(json->out, '.');
		out_bytes(json->out, number_pairs + 2 * (v->number % 100), 2);
		return;
	case VALUE_TIME:
		value_put(json->out, VALUE_I64, NULL, v, 0, false);
		json_before(json, key, "_iso");
		out_char(json->out, '"');
		out_string(json->out, timefmt_iso((int64_t)v->number, text));
		out_char(json->out, '"');
		return;
	case VALUE_FLAGS:
		out_u64(json->out, bits);
		json_before(json, key, "_names");
		out_char(json->out, '[');
		json->comma = false;
		while ((name = value_flag_name(&flags, &bits, text))) {
			if (json->comma)
				out_char(json->out, ',');
			json->comma = true;
			out_char(json->out, '"');
			out_string(json->out, name);
			out_char(json->out, '"');
		}
		out_char(json->out, ']');
		json->comma = true;
		return;
	case VALUE_BOOL:
		out_string(json->out, v->number ? "true" : "false");
		return;
	default:
		out_u64(json->out, v->number);
	}
}

void report_put(struct report *r, enum value_kind kind,
		const struct value_flag *flags, const char *key,
		const char *label, struct value v)
{
	bool line = report_is_at_line(r);
	size_t used;

	report_open_document(r);
	if (r->mode == REPORT_HTML) {
		out_string(r->out, r->grid ? "<tr><th scope=\"row\">" :
			   "<table><tbody>\n<tr><th scope=\"row\">");
		r->grid = true;
		svg_string(r->out, label);
		out_string(r->out, "</th><td>");
		report_html_value(r->out, kind, flags, &v);
		out_string(r->out, "</td></tr>\n");
		return;
	}
	if (r->mode == REPORT_TEXT) {
		used = r->indent + strlen(label) + 1;
		out_repeat(r->out, ' ', r->indent);
		out_string(r->out, label);
		out_char(r->out, ':');
		out_repeat(r->out, ' ',
			   used < LABEL_WIDTH ? LABEL_WIDTH - used : 1);
		value_put(r->out, kind, flags, &v, 0, false);
		out_char(r->out, '\n');
		return;
	}
	if (line)
		report_line_begin(r, key);
	report_json_value(&r->json, kind, flags, key, &v);
	if (line)
		json_end(&r->json);
}

void report_paragraph(struct report *r, const char *class, const char *text)
{
	if (r->mode != REPORT_HTML)
		return;
	report_text_block(r);
	out_printf(r->out, "<p class=\"%s\">", class);
	svg_string(r->out, text);
	out_string(r->out, "</p>\n");
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
	report_paragraph(r, "note", line);
	if (r->mode == REPORT_HTML)
		return;
	r->started = true;
	out_repeat(r->out, ' ', r->indent);
	out_string(r->out, line);
	out_char(r->out, '\n');
}

void report_fail(struct report *r, const char *message, int status)
{
	unsigned int kept = r->mode == REPORT_JSON && r->started;

	if (report_is_text(r))
		return;
	while (r->json.depth > kept)
		json_end(&r->json);
	r->depth = 0;
	r->loose = false;
	report_begin(r, "error", NULL);
	report_string(r, "message", "", message);
	report_u64(r, "status", "", (uint64_t)status);
	report_end(r);
	report_fini(r);
}
