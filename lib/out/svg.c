// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * SVG documents, and text inside SVG and HTML.
 *
 * Labels and names come from the disk and may try to end an attribute or to forge an
 * element.  They are escaped in two steps: unsafe bytes as in text for a terminal,
 * then the five characters of markup as entities.  Callers need not escape.
 *
 * Colours that depend on the page are rules of the style sheet; attributes have the
 * colours of a light page for a renderer without variables in style sheets.
 */
#include "out/svg.h"

#include "base/text.h"

#define MARGIN 20u		/* pixels around everything */
#define HEAD 62u		/* pixels from the top to below the title */
#define PANEL_TITLE 24u		/* pixels of the title of a panel */
#define TITLE_CHARACTERS 48u	/* fit into the width, whatever they are */
#define LEGEND_STEP 20u		/* pixels, of a line of a legend */
#define LEGEND_COLUMNS(s) ((s)->page ? 1u : 2u)

const struct svg_paint svg_paints[] = {
	[SVG_BLUE] = { 0x0072b2, 0x0072b2, NULL },
	[SVG_ORANGE] = { 0xe69f00, 0xe69f00, NULL },
	[SVG_SKY] = { 0x56b4e9, 0x56b4e9, NULL },
	[SVG_PURPLE] = { 0xcc79a7, 0xcc79a7, NULL },
	[SVG_VERMILION] = { 0xd55e00, 0xd55e00, NULL },
	[SVG_GRAY] = { 0x8c959f, 0x8c959f, NULL },
	[SVG_NONE] = { 0xe4e7eb, 0x262c34, "none" },
	[SVG_INK] = { 0x1f2328, 0xf0f3f6, "ink" },
};

const char svg_style[] =
	":root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--dim:#57606a;"
	"--line:#d8dee4;--none:#e4e7eb;--mark:#b35900}\n"
	"@media (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#f0f3f6;"
	"--dim:#9ea7b3;--line:#30363d;--none:#262c34;--mark:#e69f00}}\n"
	".page{fill:var(--page)}.ink{fill:var(--ink)}.dim{fill:var(--dim)}"
	".none{fill:var(--none)}.grid{stroke:var(--line)}.gap{stroke:var(--page)}"
	".axis{stroke:var(--dim)}\n";

void svg_escape(struct out *out, const void *bytes, size_t len)
{
	static const char *const entities[] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;",
		['\''] = "&#39;",
	};
	const char *p = bytes, *end = p + len;
	char text[TEXT_ESCAPED_MAX(4)];
	size_t n, shown, i, c;

	for (; p < end; p += n) {
		n = text_utf8(p, (size_t)(end - p), NULL);
		n = n ? n : 1;
		shown = text_escape(text, sizeof(text), p, n);
		for (i = 0; i < shown; i++) {
			c = (unsigned char)text[i];
			if (c < sizeof(entities) / sizeof(entities[0]) &&
			    entities[c])
				out_string(out, entities[c]);
			else
				out_char(out, text[i]);
		}
	}
}

void svg_string(struct out *out, const char *s)
{
	svg_escape(out, s, strlen(s));
}

int svg_close(struct svg *s, struct context *cx, struct out *out,
	      const char *title, const char *subtitle)
{
	unsigned int width = SVG_WIDTH + 2 * MARGIN, height = HEAD + s->y;
	size_t len = strlen(title), kept = len, at, count = 0, n;
	const char *panels;

	out_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		   "height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\" "
		   "font-family=\"system-ui, sans-serif\" font-size=\"12\">\n"
		   "<title>", width, height, width, height);
	svg_string(out, title);
	out_printf(out, "</title>\n<style>\n%s</style>\n<rect class=\"page\" "
		   "width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		   "<text x=\"%u\" y=\"32\" class=\"ink\" font-size=\"16\" "
		   "font-weight=\"600\">", svg_style, MARGIN);
	for (at = 0; at < len; at += n ? n : 1) {
		n = text_utf8(title + at, len - at, NULL);
		if (++count == TITLE_CHARACTERS)
			kept = at;
	}
	kept = count > TITLE_CHARACTERS ? kept : len;
	svg_escape(out, title, kept);
	out_printf(out, "%s</text>\n<text x=\"%u\" y=\"50\" class=\"dim\">",
		   kept < len ? "\xe2\x80\xa6" : "", MARGIN);
	svg_string(out, subtitle);
	out_string(out, "</text>\n");
	panels = out_memory(s->out, &len);
	out_bytes(out, panels, len);
	out_string(out, "</svg>\n");
	return out_close(s->out, cx);
}

void svg_panel(struct svg *s, const char *title, struct svg_box box)
{
	unsigned int columns = LEGEND_COLUMNS(s), top = box.top + PANEL_TITLE;
	unsigned int below = box.bottom +
			     (box.legend + columns - 1) / columns * LEGEND_STEP;

	s->box = box;
	if (s->page)
		/* Margins are padding: percentages refer to the content box. */
		out_printf(s->out, "<svg class=\"panel\" role=\"img\" height=\"%u\" "
			   "style=\"padding:%upx %upx %upx %upx\">\n<title>",
			   box.top + box.height + below, box.top, box.right, below,
			   box.left);
	else
		out_printf(s->out, "<svg x=\"%u\" y=\"%u\" width=\"%u\" "
			   "height=\"%u\" overflow=\"visible\">\n<title>",
			   MARGIN + box.left, HEAD + s->y + top,
			   SVG_WIDTH - box.left - box.right, box.height);
	svg_string(s->out, title);
	out_string(s->out, "</title>\n");
	if (s->page)
		return;
	out_printf(s->out, "<text x=\"-%u\" y=\"-%u\" class=\"ink\" "
		   "font-size=\"14\">", box.left, top - 14);
	svg_string(s->out, title);
	out_string(s->out, "</text>\n");
	s->y += top + box.height + below + MARGIN;
}

void svg_line(struct svg *s, const char *class, double x1, double y1, double x2,
	      double y2)
{
	out_printf(s->out, "<line class=\"%s\" stroke=\"#c8ced5\" x1=\"%.6g%%\" "
		   "y1=\"%.1f\" x2=\"%.6g%%\" y2=\"%.1f\"/>\n", class, x1, y1,
		   x2, y2);
}

void svg_rect(struct svg *s, const char *unit, double x, double y, double width,
	      double height, enum svg_colour colour, int shade, const char *tip)
{
	const struct svg_paint *paint = &svg_paints[colour];

	out_printf(s->out, "<rect x=\"%.6g%s\" y=\"%.6g\" width=\"%.6g%s\" "
		   "height=\"%.6g\" fill=\"#%06x\"", x, unit, y, width, unit,
		   height, paint->light);
	if (paint->class)
		out_printf(s->out, " class=\"%s\"", paint->class);
	if (shade < SVG_SHADES)
		out_printf(s->out, " fill-opacity=\"%.2f\"",
			   0.15 + 0.85 * shade / SVG_SHADES);
	out_string(s->out, tip ? "><title>" : "/>");
	if (!tip)
		return;
	svg_string(s->out, tip);
	out_string(s->out, "</title></rect>\n");
}

void svg_text(struct svg *s, double x, int dx, double y, const char *anchor,
	      const char *class, const char *text)
{
	out_printf(s->out, "<text x=\"%.6g%%\" dx=\"%d\" y=\"%.6g\" fill=\"#1f2328\" "
		   "stroke=\"none\" class=\"%s\" text-anchor=\"%s\">", x, dx, y,
		   class, anchor);
	svg_string(s->out, text);
	out_string(s->out, "</text>\n");
}

void svg_legend(struct svg *s, unsigned int i, const char *text)
{
	unsigned int columns = LEGEND_COLUMNS(s);
	unsigned int y = s->box.height + s->box.bottom + i / columns * LEGEND_STEP;
	double x = 100.0 * (i % columns) / columns;

	svg_text(s, x, SVG_SAMPLE + 8, y + 10, "start", "ink", text);
	out_printf(s->out, "<svg x=\"%.6g%%\" y=\"%u\" overflow=\"visible\">", x, y);
}
