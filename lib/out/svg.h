/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SVG documents: head, colours of a light and of a dark page, text.
 *
 * Colours with a meaning are those of Okabe and Ito, which people with any
 * kind of colour vision can distinguish; vermilion and green are never used
 * together.  Colours of the page itself are classes of the style sheet:
 *
 *	page	background
 *	ink	text, axes, and what is to stand out most
 *	dim	smaller text
 *	grid	lines behind a plot (stroke)
 *	gap	lines between cells (stroke)
 *	none	a cell with nothing in it
 */
#ifndef NILFS2_OUT_SVG_H
#define NILFS2_OUT_SVG_H

#include <stdint.h>

#include "out/out.h"

enum {
	SVG_BLUE = 0x0072b2,
	SVG_ORANGE = 0xe69f00,
	SVG_SKY = 0x56b4e9,
	SVG_PURPLE = 0xcc79a7,
	SVG_VERMILION = 0xd55e00,
	SVG_GRAY = 0x8c959f,
	SVG_NONE = 0xe4e7eb,
	SVG_INK = 0x1f2328,
	SVG_NONE_DARK = 0x262c34,
	SVG_INK_DARK = 0xf0f3f6,
};

#define SVG_MARGIN 20u		/* pixels around everything */
#define SVG_HEAD 62u		/* pixels from the top to below the title */
#define SVG_WIDTH_MIN 640u	/* of a document */

/*
 * Begins a document of WIDTH x HEIGHT pixels, with TITLE and SUBTITLE (any
 * bytes; NULL: none) in its SVG_HEAD upper pixels.  svg_end() ends it.
 */
void svg_begin(struct out *out, unsigned int width, unsigned int height,
	       const char *title, const char *subtitle);
void svg_end(struct out *out);

/* Begins an SVG element inside of HTML that has the style below. */
void svg_begin_inline(struct out *out, unsigned int width,
		      unsigned int height, const char *title);

/* The rules of the classes above, for light and dark, without an element. */
void svg_style(struct out *out);

/* Where text stands, from its x. */
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Puts TEXT (any bytes) with its base line at Y, in CLASS. */
void svg_text(struct out *out, double x, double y, enum svg_anchor anchor,
	      const char *class, const char *text);

#endif
