/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The container of pictures: an SVG document, or a page of HTML.
 *
 * A picture is a panel: a rectangle with margins around it and a legend below.  Its
 * contents have positions in percent along x and in pixels along y, so text keeps its
 * size in a narrow window, and the drawing becomes narrower.  "</svg>" ends a panel.
 *
 * Colours of the page itself are classes of the style sheet:
 *
 *	ink	text, axes, and the most important cells
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

/*
 * Colours with a meaning: those of Okabe and Ito, which people with any kind of
 * colour vision can distinguish.  Vermilion and green are never used together.
 */
enum svg_colour {
	SVG_BLUE,
	SVG_ORANGE,
	SVG_SKY,
	SVG_PURPLE,
	SVG_VERMILION,
	SVG_GRAY,
	SVG_NONE,
	SVG_INK,
};

struct svg_paint {
	uint32_t light, dark;	/* 0xRRGGBB on a page and on a terminal */
	const char *class;	/* if the colour depends on the page, or NULL */
};

extern const struct svg_paint svg_paints[];	/* by enum svg_colour */

/* The rules of the classes above, for light and dark, without an element. */
extern const char svg_style[];

#define SVG_WIDTH 880u		/* pixels of a panel; in a page, of a wide window */
#define SVG_SAMPLE 40u		/* pixels, of a sample in a legend */

/* The margins of a panel, the height of its content, in pixels, and its legend. */
struct svg_box {
	unsigned int left, right, top, bottom, height;
	unsigned int legend;	/* number of entries */
};

/*
 * A document in memory, since its height is not known before its end; or a page of
 * HTML, which has svg_style.
 */
struct svg {
	struct out *out;	/* of out_open_memory(), or of the page */
	bool page;
	unsigned int y;		/* of the next panel in a document, at first 0 */
	struct svg_box box;	/* of the open panel */
};

/*
 * Puts LEN bytes of any kind as text of an element or of a quoted attribute.  Unsafe
 * bytes are escaped as in "base/text.h", the characters of markup as entities.
 */
void svg_escape(struct out *out, const void *bytes, size_t len);
void svg_string(struct out *out, const char *s);

/*
 * Puts the document to OUT, with TITLE (any bytes), which is cut if it is too long,
 * and SUBTITLE above the panels.  Frees it.  0 or -ENOMEM.
 */
int svg_close(struct svg *s, struct context *cx, struct out *out,
	      const char *title, const char *subtitle);

/*
 * Begins a panel below the previous one.  0 is the upper left corner inside the
 * margins, and 100 % the right one.  TITLE (any bytes) is put above the margin; in a
 * page it is visible only to a reader of the screen, and the caller puts a heading.
 */
void svg_panel(struct svg *s, const char *title, struct svg_box box);

/* Puts a line of CLASS between two points, in percent along x. */
void svg_line(struct svg *s, const char *class, double x1, double y1, double x2,
	      double y2);

/*
 * Puts a rectangle with the tooltip TIP (NULL: none).  UNIT of X and WIDTH is "%" or
 * "" (pixels).  SHADE, 0 ... SVG_SHADES, becomes its opacity, so that it fades into
 * the page, light or dark; 0 is faint.
 */
#define SVG_SHADES 10
void svg_rect(struct svg *s, const char *unit, double x, double y, double width,
	      double height, enum svg_colour colour, int shade, const char *tip);

/*
 * Puts TEXT (any bytes) at X percent and DX pixels, its base line at Y.  ANCHOR is the
 * position of X in it: start, middle or end.
 */
void svg_text(struct svg *s, double x, int dx, double y, const char *anchor,
	      const char *class, const char *text);

/*
 * Puts TEXT of entry I of the legend of the panel, and begins an element for its
 * sample: SVG_SAMPLE x 12 pixels, ended by "</svg>".
 */
void svg_legend(struct svg *s, unsigned int i, const char *text);

#endif
