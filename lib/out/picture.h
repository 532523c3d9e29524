/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A map of many like things (segments, mostly) in few cells.
 *
 * Each thing has a kind and a fraction from 0 to 1 (how full it is).  A cell
 * stands for a run of neighbours: it shows the kind most of them have, or an
 * important kind if any of them has it, as dark as their mean fraction.
 * Memory is by the number of cells, whatever the number of things.
 */
#ifndef NILFS2_OUT_PICTURE_H
#define NILFS2_OUT_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "out/svg.h"

struct picture_kind {
	const char *name;	/* in the legend; no markup characters */
	const char *marks;	/* characters from empty to full, 1 or more */
	uint32_t colour;	/* 0xRRGGBB of a full one */
	bool important;		/* shown where one of the cell's things is so */
	bool flat;		/* its colour says nothing of the fraction */
	/* Where it depends on the page: */
	uint32_t dark;		/* on a dark one, and on a terminal */
	const char *class;	/* of "out/svg.h" */
};

/* What is in a picture. */
struct picture_labels {
	const char *thing;	/* in the singular, the plural has an s */
	uint64_t bytes;		/* of one, for the scale; 0: unknown */
	const char *share;	/* what a fraction is of, as "live" */
};

enum picture_colour {
	PICTURE_PLAIN,		/* characters only */
	PICTURE_256,		/* the 256-colour palette of terminals */
	PICTURE_TRUECOLOR,	/* 24-bit escapes */
};

#define PICTURE_CELLS_MAX (1u << 20)
#define PICTURE_KINDS_MAX 16

struct picture;

/*
 * A picture of TOTAL things in at most WIDTH x HEIGHT cells; KINDS (COUNT of
 * them) must outlive it.  0, -EINVAL for sizes past the limits above, or
 * -ENOMEM.
 */
int picture_open(struct context *cx, const struct picture_kind *kinds,
		 unsigned int count, uint64_t total, unsigned int width,
		 unsigned int height, struct picture **picture);
void picture_close(struct picture *p);	/* NULL is accepted */

/* Thing INDEX (< TOTAL) is of KIND and FRACTION (0 ... 1) full; any order. */
void picture_add(struct picture *p, uint64_t index, unsigned int kind,
		 double fraction);

/*
 * Puts the map for a terminal, with the number of the first thing in front of
 * each line, and a legend below.
 */
void picture_text(const struct picture *p, struct out *out,
		  const struct picture_labels *labels,
		  enum picture_colour colour);

/*
 * The pixels of a document that the drawing below takes (see svg_begin()), with
 * CELL pixels for a cell.
 */
void picture_svg_size(const struct picture *p, unsigned int cell,
		      unsigned int *width, unsigned int *height);

/*
 * Puts the map as a panel: numbers at the left, what a cell is under the pointer,
 * a legend and the scale below.  Cells are CELL pixels high, and in a document as
 * wide.
 */
void picture_svg(const struct picture *p, struct svg *s, const char *title,
		 unsigned int cell, const struct picture_labels *labels);

#endif
