/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plots with axes: lines, bars, and one bar of parts. */
#ifndef NILFS2_OUT_CHART_H
#define NILFS2_OUT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/out.h"

/* What the numbers of an axis are. */
enum chart_unit {
	CHART_COUNT,	/* 20, 1.5k, 3M: powers of 1000 */
	CHART_BYTES,	/* 16 MiB */
	CHART_PERCENT,
	CHART_TIME,	/* seconds since 1970, in UTC */
};

struct chart_axis {
	const char *label;	/* what it is */
	enum chart_unit unit;
	double min, max;	/* ends; the upper one of y is rounded up */
	/* Of x: names of 0, 1, ... in place of numbers; NULL: none. */
	const char *const *words;
	unsigned int nwords;
};

struct chart {
	const char *title;	/* any bytes; NULL: none */
	struct chart_axis x, y;
	unsigned int left, top, width, height;	/* pixels, with all labels */
};

struct chart_point {
	double x, y;
	double interval;	/* y may be so much less or more; 0: no bar */
};

struct chart_series {
	const char *name;	/* in the legend; any bytes */
	const struct chart_point *points;	/* by ascending x */
	size_t count;
	bool dots;		/* no line, one mark for each point, as for one
				   that is alone */
};

struct chart_bar {
	double from, to;	/* along x */
	double value;
};

#define CHART_SERIES_MAX 16

/*
 * Puts a plot of N series into an open SVG document, with a legend where there
 * are two or more.
 */
void chart_lines(struct out *out, const struct chart *c,
		 const struct chart_series *series, unsigned int n);

/* The same of N bars, whose numbers are above them. */
void chart_bars(struct out *out, const struct chart *c,
		const struct chart_bar *bars, unsigned int n);

/* A part of a whole. */
struct chart_part {
	const char *name;
	uint64_t bytes;
	uint32_t colour;
	const char *class;	/* of "out/svg.h", or NULL */
};

/*
 * Puts one bar of N parts, WIDTH pixels wide, with a line of the legend for
 * each; CHART_PARTS_HEIGHT(n) pixels high.
 */
void chart_parts(struct out *out, const struct chart_part *parts,
		 unsigned int n, unsigned int width);
#define CHART_PARTS_HEIGHT(n) (52u + 20u * (n))

#endif
