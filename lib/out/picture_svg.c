// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A map of cells as SVG.
 *
 * How full a cell is becomes the opacity of its colour, so that it fades into
 * the page, light or dark.  Neighbours that look the same are one rectangle
 * with one tooltip; the lines between cells are drawn over all of them at once.
 */
#include "out/picture.h"

#include <stdio.h>

#include "out/svg.h"

#define GUTTER 64u		/* pixels for the numbers at the left */
#define NUMBER_STEP 24u		/* pixels between two of them, at least */
#define LEGEND_STEP 20u		/* pixels per line of the legend */
#define LEGEND_WIDTH 300u	/* of each of its two columns */
#define LEGEND_GAP 16u		/* above it */
#define SWATCH 40u		/* pixels wide */
#define SHADES 10		/* of one kind */
#define GAPS_MIN 6u		/* pixels of a cell that has lines around it */

/* Of what a cell shows, as much as can be seen. */
struct shade {
	const struct picture_kind *kind;
	int step;		/* 0 ... SHADES */
};

static struct shade shade_of(const struct picture_look *look)
{
	struct shade s = { look->kind, SHADES };

	if (look->kind && !look->kind->flat)
		s.step = (int)(look->fraction * SHADES + 0.5);
	return s;
}

/* The attributes of a rectangle that is filled so; the empty one is faint. */
static void put_fill(struct out *out, const struct shade *s)
{
	out_printf(out, " fill=\"#%06x\"", s->kind->colour);
	if (s->kind->class)
		out_printf(out, " class=\"%s\"", s->kind->class);
	if (s->step < SHADES)
		out_printf(out, " fill-opacity=\"%.2f\"",
			   0.15 + 0.85 * s->step / SHADES);
}

/* "segments 12-14: partly live, 40 % to keep" */
static void put_tooltip(const struct picture *p, struct out *out,
			const struct picture_labels *labels, uint64_t from,
			uint64_t to, const struct shade *s, double fraction)
{
	uint64_t first = picture_first(p, from);
	uint64_t last = picture_first(p, to) - 1;

	out_printf(out, "<title>%s%s %llu", labels->thing,
		   last > first ? "s" : "", (unsigned long long)first);
	if (last > first)
		out_printf(out, "\xe2\x80\x93%llu", (unsigned long long)last);
	out_printf(out, ": %s", s->kind->name);
	if (!s->kind->flat)
		out_printf(out, ", %.0f %% %s", 100 * fraction, labels->share);
	out_string(out, "</title>");
}

/* Puts the cells from FROM to TO, which look the same. */
static void put_run(const struct picture *p, struct out *out,
		    unsigned int cell, const struct picture_labels *labels,
		    uint64_t from, uint64_t to)
{
	struct picture_look look = picture_look(p, from);
	struct shade shade = shade_of(&look);
	double sum = 0;
	uint64_t i;

	if (!shade.kind)
		return;
	for (i = from; i < to; i++)
		sum += picture_look(p, i).fraction;
	out_printf(out,
		   "<rect x=\"%llu\" y=\"%llu\" width=\"%llu\" "
		   "height=\"%u\"",
		   (unsigned long long)(from % picture_width(p)) * cell,
		   (unsigned long long)(from / picture_width(p)) * cell,
		   (unsigned long long)(to - from) * cell, cell);
	put_fill(out, &shade);
	out_char(out, '>');
	put_tooltip(p, out, labels, from, to, &shade,
		    sum / (double)(to - from));
	out_string(out, "</rect>\n");
}

static void put_line(const struct picture *p, struct out *out,
		     unsigned int cell, const struct picture_labels *labels,
		     uint64_t from, uint64_t to)
{
	uint64_t run;

	for (; from < to; from = run) {
		struct picture_look look = picture_look(p, from);
		struct shade shade = shade_of(&look);

		for (run = from + 1; run < to; run++) {
			struct picture_look next = picture_look(p, run);
			struct shade s = shade_of(&next);

			if (s.kind != shade.kind || s.step != shade.step)
				break;
		}
		put_run(p, out, cell, labels, from, run);
	}
}

static uint64_t lines_of(const struct picture *p)
{
	return (picture_cells(p) + picture_width(p) - 1) / picture_width(p);
}

/* The lines between cells. */
static void put_gaps(const struct picture *p, struct out *out,
		     unsigned int cell)
{
	unsigned int height = (unsigned int)lines_of(p) * cell;
	unsigned int width = picture_width(p) * cell, at;

	if (cell < GAPS_MIN)
		return;
	out_string(out, "<path class=\"gap\" stroke=\"#ffffff\" "
			"pointer-events=\"none\" d=\"");
	for (at = 0; at <= width; at += cell)
		out_printf(out, "M%u 0v%u", at, height);
	for (at = 0; at <= height; at += cell)
		out_printf(out, "M0 %uh%u", at, width);
	out_string(out, "\"/>\n");
}

/* The number of the first thing, beside every few lines. */
static void put_numbers(const struct picture *p, struct out *out,
			unsigned int cell)
{
	unsigned int step = (NUMBER_STEP + cell - 1) / cell;
	uint64_t line;
	char text[32];

	for (line = 0; line < lines_of(p); line += step) {
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)picture_first(
				p, line * picture_width(p)));
		svg_text(out, -8, (double)line * cell + cell / 2.0 + 4,
			 SVG_END, "dim", text);
	}
}

static void put_swatch(struct out *out, const struct picture_kind *kind,
		       unsigned int x, unsigned int y)
{
	struct shade s = { kind, SHADES };
	unsigned int parts = kind->flat ? 1 : 5, i;

	for (i = 0; i < parts; i++) {
		if (!kind->flat)
			s.step = (int)(SHADES * i / (parts - 1));
		out_printf(out,
			   "<rect x=\"%u\" y=\"%u\" width=\"%u\" "
			   "height=\"12\"",
			   x + i * SWATCH / parts, y, SWATCH / parts);
		put_fill(out, &s);
		out_string(out, "/>\n");
	}
}

static unsigned int legend_columns(const struct picture *p, unsigned int cell)
{
	return picture_width(p) * cell + GUTTER >= 2 * LEGEND_WIDTH ? 2 : 1;
}

static void put_legend(const struct picture *p, struct out *out,
		       unsigned int columns)
{
	unsigned int k, n = 0;

	for (k = 0; k < picture_kinds(p); k++) {
		const struct picture_kind *kind = picture_kind(p, k);
		unsigned int x = n % columns * LEGEND_WIDTH;
		unsigned int y = n / columns * LEGEND_STEP;
		char text[128];

		if (!picture_count(p, k))
			continue;
		n++;
		put_swatch(out, kind, x, y);
		snprintf(text, sizeof(text), "%s: %llu", kind->name,
			 (unsigned long long)picture_count(p, k));
		svg_text(out, x + SWATCH + 8, y + 10, SVG_START, "ink", text);
	}
}

/* How many entries the legend has. */
static unsigned int legend_count(const struct picture *p)
{
	unsigned int k, n = 0;

	for (k = 0; k < picture_kinds(p); k++)
		n += picture_count(p, k) != 0;
	return n;
}

void picture_svg_size(const struct picture *p, unsigned int cell,
		      unsigned int *width, unsigned int *height)
{
	unsigned int columns = legend_columns(p, cell), map = GUTTER;

	map += picture_width(p) * cell;
	*width = SVG_WIDTH_MIN - 2 * SVG_MARGIN;
	if (*width < map)
		*width = map;
	*height = (unsigned int)lines_of(p) * cell + LEGEND_GAP +
		  LEGEND_STEP *
			  (1 + (legend_count(p) + columns - 1) / columns);
}

void picture_svg(const struct picture *p, struct out *out, unsigned int cell,
		 const struct picture_labels *labels, unsigned int x,
		 unsigned int y)
{
	unsigned int below = (unsigned int)lines_of(p) * cell + LEGEND_GAP;
	uint64_t cells = picture_cells(p), from, to;
	char scale[PICTURE_SCALE_MAX];

	out_printf(out,
		   "<g transform=\"translate(%u %u)\" "
		   "shape-rendering=\"crispEdges\">\n",
		   x + GUTTER, y);
	for (from = 0; from < cells; from = to) {
		to = from + picture_width(p);
		to = to < cells ? to : cells;
		put_line(p, out, cell, labels, from, to);
	}
	put_gaps(p, out, cell);
	put_numbers(p, out, cell);
	svg_text(out, 0, below + 10, SVG_START, "dim",
		 picture_scale(p, labels, scale));
	out_printf(out, "<g transform=\"translate(0 %u)\">\n",
		   below + LEGEND_STEP);
	put_legend(p, out, legend_columns(p, cell));
	out_string(out, "</g>\n</g>\n");
}
