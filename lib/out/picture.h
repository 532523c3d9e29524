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
	enum svg_colour colour;	/* of a full cell */
	bool important;		/* shown if any thing of the cell has it */
	bool flat;		/* its colour is independent of the fraction */
};

/* The things of a picture. */
struct picture_things {
	const struct picture_kind *kinds;	/* must outlive the picture */
	unsigned int count;	/* of kinds */
	const char *name;	/* of a thing in the singular, the plural has an s */
	const char *share;	/* meaning of a fraction, as "live" */
	uint64_t bytes;		/* per thing, for the scale; 0: unknown */
	uint64_t total;		/* number of things */
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
 * Makes a picture of THINGS in at most WIDTH x HEIGHT cells, to be free()d.  0,
 * -EINVAL for sizes above the limits, or -ENOMEM.
 */
int picture_open(struct context *cx, const struct picture_things *things,
		 unsigned int width, unsigned int height, struct picture **picture);

/* Adds thing INDEX (< total) of KIND with FRACTION (0 ... 1); in any order. */
void picture_add(struct picture *p, uint64_t index, unsigned int kind,
		 double fraction);

/*
 * Puts the map for a terminal, with the number of the first thing before each line,
 * and a legend below.
 */
void picture_text(const struct picture *p, struct out *out,
		  enum picture_colour colour);

/*
 * Puts the map as a panel: numbers at the left, tooltips of cells, a legend and the
 * scale below.
 */
void picture_svg(const struct picture *p, struct svg *s, const char *title);

#endif
