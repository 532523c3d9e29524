/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The container of pictures: an SVG document, or a page of HTML.
 *
 * A picture is a panel: a rectangle with margins around it.  Its contents have
 * positions in percent along x and in pixels along y, so text keeps its size in a
 * narrow window, and the drawing becomes narrower.
 *
 * Colours with a meaning are those of Okabe and Ito, which people with any kind of
 * colour vision can distinguish; vermilion and green are never used together.
 * Colours of the page itself are classes of the style sheet:
 *
 *	ink	text, axes, and what is to stand out most
 *	dim	smaller text; with "odd" not in a narrow window
 *	grid	lines behind a plot (stroke)
 *	axis	lines of axes (stroke)
 *	gap	lines between cells (stroke)
 *	none	a cell with nothing in it
 */
#ifndef NILFS2_OUT_SVG_H
#define NILFS2_OUT_SVG_H

#include <stdbool.h>
#include <stddef.h>
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

#define SVG_PAGE_WIDTH 880u	/* pixels of a panel in a wide window */

/* A document; or a page of HTML, with all members except OUT and PAGE zero. */
struct svg {
	struct out *out;
	bool page;		/* its style sheet has svg_style() */
	unsigned int width, y;	/* document: width of panels, y of the next */
};

/* The margins of a panel, and the height of its content, in pixels. */
struct svg_box {
	unsigned int left, right, top, bottom, height;
};

/*
 * Puts LEN bytes of any kind as text of an element or of a quoted attribute.  Unsafe
 * bytes are escaped as in "base/text.h", the characters of markup as entities.
 */
void svg_escape(struct out *out, const void *bytes, size_t len);
void svg_string(struct out *out, const char *s);

/*
 * Begins a document for panels that are WIDTH pixels wide, with the sum HEIGHT of
 * svg_height(), with TITLE and SUBTITLE (any bytes) above them; both are cut if they
 * are too long.
 */
void svg_begin(struct svg *s, struct out *out, unsigned int width,
	       unsigned int height, const char *title, const char *subtitle);

/* Puts the rules of the classes above, for light and dark, without an element. */
void svg_style(struct out *out);

/* The height of a panel in a document, with the space below it, in pixels. */
unsigned int svg_height(const struct svg_box *box);

/*
 * Begins a panel below the previous one.  Until its end, 0 is the upper left corner
 * inside the margins, and 100 % the right one.  TITLE (any bytes; NULL: none) is in
 * the first 20 pixels of the upper margin; in a page it is put by the caller.
 */
void svg_panel(struct svg *s, const char *title, const struct svg_box *box);

/* Ends a panel, or the document. */
void svg_end(struct svg *s);

/*
 * Begins an element at X percent and Y pixels, in which coordinates are pixels from
 * there.  "</svg>" ends it.
 */
void svg_at(struct svg *s, double x, double y);

/* The position of text relative to its x. */
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Puts TEXT (any bytes) at X percent and DX pixels, its base line at Y. */
void svg_text(struct svg *s, double x, int dx, double y,
	      enum svg_anchor anchor, const char *class, const char *text);

#endif
