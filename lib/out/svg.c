// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * SVG documents, and text inside SVG and HTML.
 *
 * Labels and names come from the disk and may try to end an attribute or to forge an
 * element.  They are escaped in two steps: unsafe bytes as in text for a terminal,
 * then the five characters of markup as entities.  Callers need not escape.
 *
 * Colours that depend on the page are attributes for a light page, which any
 * renderer supports, and rules of the style sheet, which include a dark page.
 */
#include "out/svg.h"

#include <string.h>

#include "base/text.h"

#define MARGIN 20u		/* pixels around everything */
#define HEAD 62u		/* pixels from the top to below the title */
#define TITLE_CHARACTER 18u	/* pixels, at most */
#define SUBTITLE_CHARACTER 7u

void svg_escape(struct out *out, const void *bytes, size_t len)
{
	const char *p = bytes, *end = p + len;
	char text[TEXT_ESCAPED_MAX(4)];
	size_t n, shown, i;

	for (; p < end; p += n) {
		n = text_utf8(p, (size_t)(end - p));
		n = n ? n : 1;
		shown = text_escape(text, sizeof(text), p, n);
		for (i = 0; i < shown; i++) {
			if (text[i] == '&')
				out_string(out, "&amp;");
			else if (text[i] == '<')
				out_string(out, "&lt;");
			else if (text[i] == '>')
				out_string(out, "&gt;");
			else if (text[i] == '"')
				out_string(out, "&quot;");
			else if (text[i] == '\'')
				out_string(out, "&#39;");
			else
				out_char(out, text[i]);
		}
	}
}

void svg_string(struct out *out, const char *s)
{
	svg_escape(out, s, strlen(s));
}

void svg_style(struct out *out)
{
	out_string(out,
		   ".page{fill:#ffffff}.ink{fill:#1f2328}"
		   ".dim{fill:#57606a}.none{fill:#e4e7eb}\n"
		   ".grid{stroke:#d8dee4}.gap{stroke:#ffffff}"
		   ".axis{stroke:#57606a}\n"
		   "@media (prefers-color-scheme:dark){"
		   ".page{fill:#0d1117}.ink{fill:#f0f3f6}"
		   ".dim{fill:#9ea7b3}.none{fill:#262c34}\n"
		   ".grid{stroke:#30363d}.gap{stroke:#0d1117}"
		   ".axis{stroke:#9ea7b3}}\n");
}

/* Puts a line of the head, cut to MOST characters with an ellipsis. */
static void put_head(struct out *out, unsigned int y, const char *attributes,
		     const char *text, size_t most)
{
	size_t len = strlen(text), kept = 0, at, count = 0, n;

	for (at = 0; at < len; at += n ? n : 1) {
		n = text_utf8(text + at, len - at);
		if (++count == most)
			kept = at;
	}
	out_printf(out, "<text x=\"%u\" y=\"%u\" %s>", MARGIN, y, attributes);
	svg_escape(out, text, count > most ? kept : len);
	out_printf(out, "%s</text>\n", count > most ? "\xe2\x80\xa6" : "");
}

void svg_begin(struct svg *s, struct out *out, unsigned int width,
	       unsigned int height, const char *title, const char *subtitle)
{
	unsigned int outer = width + 2 * MARGIN;

	*s = (struct svg){ .out = out, .width = width, .y = HEAD };
	out_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		   "height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\" "
		   "font-family=\"system-ui, sans-serif\" "
		   "font-size=\"12\">\n<title>",
		   outer, HEAD + height, outer, HEAD + height);
	svg_string(out, title);
	out_string(out, "</title>\n<style>\n");
	svg_style(out);
	out_string(out, "</style>\n<rect class=\"page\" width=\"100%\" "
			"height=\"100%\" fill=\"#ffffff\"/>\n");
	put_head(out, MARGIN + 12,
		 "class=\"ink\" font-size=\"16\" font-weight=\"600\"", title,
		 width / TITLE_CHARACTER);
	put_head(out, MARGIN + 30, "class=\"dim\"", subtitle,
		 width / SUBTITLE_CHARACTER);
}

void svg_end(struct svg *s)
{
	out_string(s->out, "</svg>\n");
}

unsigned int svg_height(const struct svg_box *box)
{
	return box->top + box->height + box->bottom + MARGIN;
}

void svg_panel(struct svg *s, const char *title, const struct svg_box *box)
{
	if (s->page) {
		/* Margins are padding: percentages refer to the content box. */
		out_printf(s->out,
			   "<svg class=\"panel\" role=\"img\" height=\"%u\" "
			   "style=\"padding:%upx %upx %upx %upx\" "
			   "aria-label=\"",
			   box->top + box->height + box->bottom, box->top,
			   box->right, box->bottom, box->left);
		svg_string(s->out, title ? title : "");
		out_string(s->out, "\">\n");
		return;
	}
	out_printf(s->out,
		   "<svg x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" "
		   "overflow=\"visible\">\n",
		   MARGIN + box->left, s->y + box->top,
		   s->width - box->left - box->right, box->height);
	if (title) {
		out_printf(s->out, "<text x=\"-%u\" y=\"-%u\" class=\"ink\" "
			   "font-size=\"14\">", box->left, box->top - 14);
		svg_string(s->out, title);
		out_string(s->out, "</text>\n");
	}
	s->y += svg_height(box);
}

void svg_at(struct svg *s, double x, double y)
{
	out_printf(s->out, "<svg x=\"%.6g%%\" y=\"%.1f\" "
		   "overflow=\"visible\">", x, y);
}

void svg_text(struct svg *s, double x, int dx, double y,
	      enum svg_anchor anchor, const char *class, const char *text)
{
	static const char *const anchors[] = {
		[SVG_START] = "",
		[SVG_MIDDLE] = " text-anchor=\"middle\"",
		[SVG_END] = " text-anchor=\"end\"",
	};

	out_printf(s->out, "<text x=\"%.6g%%\" dx=\"%d\" y=\"%.6g\" "
		   "class=\"%s\"%s>", x, dx, y, class, anchors[anchor]);
	svg_string(s->out, text);
	out_string(s->out, "</text>\n");
}
