// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reports as HTML.
 *
 * The page forbids itself scripts and requests, so that unescaped content of a
 * volume would do no harm.  Wide tables scroll inside their own box, not the page.
 */
#include "out/report_html.h"

#include "base/size.h"

static const char style[] =
	":root{color-scheme:light dark;--page:#fff;--ink:#1f2328;"
	"--dim:#57606a;--line:#d8dee4;--mark:#b35900}\n"
	"@media (prefers-color-scheme:dark){:root{--page:#0d1117;"
	"--ink:#f0f3f6;--dim:#9ea7b3;--line:#30363d;"
	"--mark:#e69f00}}\n"
	"body{margin:0;background:var(--page);color:var(--ink);"
	"font:14px/1.5 system-ui,sans-serif}\n"
	"main{max-width:940px;margin:0 auto;padding:24px 20px}\n"
	"h1{font-size:24px;margin:0;overflow-wrap:anywhere}"
	"h2{font-size:18px;margin:36px 0 8px;padding-bottom:4px;"
	"border-bottom:1px solid var(--line)}"
	"h3,h4,h5,h6{font-size:14px;margin:20px 0 4px}\n"
	".note{color:var(--dim);margin:6px 0;"
	"overflow-wrap:anywhere}"
	".problem{border-left:4px solid var(--mark);"
	"padding:2px 10px;margin:8px 0;overflow-wrap:anywhere}\n"
	".scroll{overflow-x:auto}"
	"table{border-collapse:collapse;margin:6px 0}"
	"th,td{padding:3px 12px 3px 0;text-align:left;"
	"vertical-align:top}"
	"thead th{color:var(--dim);font-weight:600;font-size:12px;"
	"white-space:nowrap;border-bottom:1px solid var(--line)}\n"
	"tbody tr+tr>*{border-top:1px solid var(--line)}"
	"tbody th{color:var(--dim);font-weight:400;width:15em}"
	"td{overflow-wrap:anywhere}"
	".n{text-align:right;white-space:nowrap;"
	"font-variant-numeric:tabular-nums}"
	".t{white-space:nowrap}\n"
	".panel{display:block;box-sizing:border-box;width:100%;"
	"margin:8px 0;overflow:visible;font-size:12px}\n"
	"@media(max-width:600px){.odd{display:none}"
	"main{padding:16px 12px}}\n";

void report_html_open(struct out *out, const char *title,
		      const char *subtitle)
{
	out_string(out,
		   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		   "<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" "
		   "content=\"default-src 'none'; "
		   "style-src 'unsafe-inline'\">\n"
		   "<meta name=\"viewport\" "
		   "content=\"width=device-width, initial-scale=1\">\n"
		   "<title>");
	svg_string(out, title);
	out_string(out, "</title>\n<style>\n");
	out_string(out, style);
	svg_style(out);
	out_string(out, "</style>\n</head>\n<body>\n<main>\n<h1>");
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
