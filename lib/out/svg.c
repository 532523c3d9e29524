// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * SVG documents.
 *
 * Colours that depend on the page are attributes for a light one, which any
 * renderer knows, and rules of the style sheet, which know of a dark one.
 */
#include "out/svg.h"

#include <stdio.h>

#include "out/markup.h"

#define TITLE_CHARACTER 18u	/* pixels, at most */
#define SUBTITLE_CHARACTER 7u

void svg_style(struct out *out)
{
	out_string(out,
		   ".page{fill:#ffffff}.ink{fill:#1f2328}"
		   ".dim{fill:#57606a}.none{fill:#e4e7eb}\n"
		   ".grid{stroke:#d8dee4}.gap{stroke:#ffffff}"
		   ".axis{stroke:#57606a}.line-ink{stroke:#1f2328}\n"
		   "@media (prefers-color-scheme:dark){"
		   ".page{fill:#0d1117}.ink{fill:#f0f3f6}"
		   ".dim{fill:#9ea7b3}.none{fill:#262c34}\n"
		   ".grid{stroke:#30363d}.gap{stroke:#0d1117}"
		   ".axis{stroke:#9ea7b3}.line-ink{stroke:#f0f3f6}}\n");
}

static void put_element(struct out *out, unsigned int width,
			unsigned int height)
{
	out_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		   "height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\" "
		   "font-family=\"system-ui, sans-serif\" "
		   "font-size=\"12\">\n<title>",
		   width, height, width, height);
}

static void put_line(struct out *out, unsigned int y, const char *class,
		     const char *font, const char *text, size_t most)
{
	out_printf(out, "<text x=\"%u\" y=\"%u\" class=\"%s\" %s>",
		   SVG_MARGIN, y, class, font);
	markup_cut(out, text, most);
	out_string(out, "</text>\n");
}

void svg_begin(struct out *out, unsigned int width, unsigned int height,
	       const char *title, const char *subtitle)
{
	unsigned int room = width - 2 * SVG_MARGIN;

	put_element(out, width, height);
	markup_string(out, title);
	out_string(out, "</title>\n<style>\n");
	svg_style(out);
	out_string(out, "</style>\n<rect class=\"page\" width=\"100%\" "
			"height=\"100%\" fill=\"#ffffff\"/>\n");
	put_line(out, SVG_MARGIN + 12, "ink",
		 "font-size=\"16\" font-weight=\"600\"", title,
		 room / TITLE_CHARACTER);
	if (subtitle)
		put_line(out, SVG_MARGIN + 30, "dim", "", subtitle,
			 room / SUBTITLE_CHARACTER);
}

void svg_begin_inline(struct out *out, unsigned int width,
		      unsigned int height, const char *title)
{
	put_element(out, width, height);
	markup_string(out, title);
	out_string(out, "</title>\n");
}

void svg_end(struct out *out)
{
	out_string(out, "</svg>\n");
}

void svg_text(struct out *out, double x, double y, enum svg_anchor anchor,
	      const char *class, const char *text)
{
	static const char *const anchors[] = {
		[SVG_START] = "",
		[SVG_MIDDLE] = " text-anchor=\"middle\"",
		[SVG_END] = " text-anchor=\"end\"",
	};

	out_printf(out, "<text x=\"%.6g\" y=\"%.6g\" class=\"%s\"%s>", x, y,
		   class, anchors[anchor]);
	markup_string(out, text);
	out_string(out, "</text>\n");
}
