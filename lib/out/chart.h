/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plots with axes: lines, bars, and one bar of parts. */
#ifndef NILFS2_OUT_CHART_H
#define NILFS2_OUT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/svg.h"

/* The unit of the numbers of an axis. */
enum chart_unit {
	CHART_COUNT,	/* 20, 1.5k, 3M: powers of 1000; whole numbers */
	CHART_NUMBER,	/* the same, with fractions */
	CHART_BYTES,	/* 16 MiB */
	CHART_PERCENT,
	CHART_TIME,	/* seconds since 1970, in UTC */
};

struct chart_axis {
	const char *label;	/* name of the axis */
	enum chart_unit unit;
	/* The least range, which the points widen; none if both are equal. */
	double min, max;
	/* Of x: names used in place of the numbers 0, 1, ...; NULL: none. */
	const char *const *words;
	unsigned int nwords;
};

struct chart_point {
	double x, y;
	double interval;	/* y may be less or more by this; 0: no bar */
};

struct chart_series {
	const char *name;	/* in the legend; any bytes */
	const struct chart_point *points;	/* by ascending x */
	size_t count;
	bool dots;		/* no line, one mark for each point, as for
				   a single point */
};

#define CHART_SERIES_MAX 16

struct chart {
	const char *title;	/* any bytes */
	struct chart_axis x, y;
	const struct chart_series *series;
	unsigned int n;		/* at most CHART_SERIES_MAX */
};

/* Puts the series as lines, with a legend for more than one. */
void chart_lines(struct svg *s, const struct chart *chart);

/*
 * Puts the only series as bars of equal width, with their numbers above.  The X of a
 * point is where its bar begins.
 */
void chart_bars(struct svg *s, const struct chart *chart);

/* A part of a whole. */
struct chart_part {
	const char *name;
	uint64_t bytes;
	enum svg_colour colour;
};

/* Puts one bar of N parts, with a line of the legend for each. */
void chart_parts(struct svg *s, const char *title,
		 const struct chart_part *parts, unsigned int n);

#endif
