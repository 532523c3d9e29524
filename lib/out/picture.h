/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A map of many similar things (mostly segments) in few cells.
 *
 * Each thing has a kind and a fraction from 0 to 1 (how full it is).  A cell
 * represents a run of adjacent things: it shows the kind of most of them, or an
 * important kind if any of them has it, with a shade for the mean fraction.  Memory
 * is proportional to the number of cells, not of things.
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
	uint32_t colour;	/* 0xRRGGBB of a full cell */
	bool important;		/* shown if any thing of the cell has it */
	bool flat;		/* its colour is independent of the fraction */
	/* If the colour depends on the page: */
	uint32_t dark;		/* on a dark page, and on a terminal */
	const char *class;	/* of "out/svg.h" */
};

/* The labels of a picture. */
struct picture_labels {
	const char *thing;	/* in the singular, the plural has an s */
	uint64_t bytes;		/* bytes per thing, for the scale; 0: unknown */
	const char *share;	/* meaning of a fraction, as "live" */
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
 * Opens a picture of TOTAL things in at most WIDTH x HEIGHT cells; the COUNT KINDS
 * must outlive it.  0, -EINVAL for sizes above the limits, or -ENOMEM.
 */
int picture_open(struct context *cx, const struct picture_kind *kinds,
		 unsigned int count, uint64_t total, unsigned int width,
		 unsigned int height, struct picture **picture);
void picture_close(struct picture *p);	/* NULL is accepted */

/* Adds thing INDEX (< TOTAL) of KIND with FRACTION (0 ... 1); in any order. */
void picture_add(struct picture *p, uint64_t index, unsigned int kind,
		 double fraction);

/*
 * Puts the map for a terminal, with the number of the first thing before each line,
 * and a legend below.
 */
void picture_text(const struct picture *p, struct out *out,
		  const struct picture_labels *labels,
		  enum picture_colour colour);

/*
 * Computes the size in pixels of the drawing below in a document (see svg_begin()),
 * with CELL pixels for a cell.
 */
void picture_svg_size(const struct picture *p, unsigned int cell,
		      unsigned int *width, unsigned int *height);

/*
 * Puts the map as a panel: numbers at the left, tooltips of cells, a legend and the
 * scale below.  Cells are CELL pixels high, and in a document as wide.
 */
void picture_svg(const struct picture *p, struct svg *s, const char *title,
		 unsigned int cell, const struct picture_labels *labels);

#endif
