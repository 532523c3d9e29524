// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pictures: what a volume looks like, in a screenful.
 *
 * Each cell counts how many of its things are of each kind and adds up their
 * fractions; what it shows is decided when the picture is put.  Things map to
 * cells by proportion, so the map is filled to the last cell but one row,
 * whatever the numbers.
 */
#include "out/picture.h"

#include <errno.h>
#include <stdlib.h>

struct cell {
	double sum;			/* of the fractions */
	uint32_t things;
	uint32_t of_kind[];		/* one per kind */
};

struct picture {
	const struct picture_kind *kinds;
	unsigned int count;		/* of kinds */
	unsigned int width;		/* cells per line */
	uint64_t total;			/* things */
	uint64_t cells;			/* in use, <= total */
	size_t cell_size;
	unsigned char *memory;
};

/* What a cell shows. */
struct look {
	const struct picture_kind *kind;	/* NULL: nothing was added */
	double fraction;
};

int picture_open(struct context *cx, const struct picture_kind *kinds,
		 unsigned int count, uint64_t total, unsigned int width,
		 unsigned int height, struct picture **picture)
{
	uint64_t cells = (uint64_t)width * height;
	struct picture *p;

	if (!cells || cells > PICTURE_CELLS_MAX || !count ||
	    count > PICTURE_KINDS_MAX)
		return fail(cx, -EINVAL, "picture of %u x %u cells", width,
			    height);
	p = calloc(1, sizeof(*p));
	if (!p)
		goto no_memory;
	p->kinds = kinds;
	p->count = count;
	p->width = width;
	p->total = total;
	p->cells = total < cells ? total : cells;
	p->cell_size = sizeof(struct cell) + (count + count % 2) * 4;
	p->memory = calloc(p->cells ? p->cells : 1, p->cell_size);
	if (!p->memory)
		goto no_memory;
	*picture = p;
	return 0;

no_memory:
	picture_close(p);
	return fail(cx, -ENOMEM, "picture of %u x %u cells", width, height);
}

void picture_close(struct picture *p)
{
	if (!p)
		return;
	free(p->memory);
	free(p);
}

static struct cell *cell_at(const struct picture *p, uint64_t i)
{
	return (struct cell *)(void *)(p->memory + i * p->cell_size);
}

void picture_add(struct picture *p, uint64_t index, unsigned int kind,
		 double fraction)
{
	struct cell *cell;

	if (index >= p->total || kind >= p->count)
		return;
	cell = cell_at(p, (uint64_t)((unsigned __int128)index * p->cells /
				     p->total));
	if (cell->things == UINT32_MAX)
		return;
	cell->things++;
	cell->of_kind[kind]++;
	if (fraction > 0)
		cell->sum += fraction < 1 ? fraction : 1;
}

static struct look look_at(const struct picture *p, uint64_t i)
{
	const struct cell *cell = cell_at(p, i);
	struct look look = { .kind = NULL };
	uint32_t most = 0;
	unsigned int k;

	if (!cell->things)
		return look;
	look.fraction = cell->sum / cell->things;
	for (k = 0; k < p->count; k++) {
		if (cell->of_kind[k] && p->kinds[k].important) {
			look.kind = &p->kinds[k];
			break;
		}
		if (cell->of_kind[k] > most) {
			most = cell->of_kind[k];
			look.kind = &p->kinds[k];
		}
	}
	return look;
}

static char mark_of(const struct look *look)
{
	const char *marks;
	size_t n, i;

	if (!look->kind)
		return ' ';
	marks = look->kind->marks;
	n = strlen(marks);
	i = (size_t)(look->fraction * (double)n);
	return marks[i < n ? i : n - 1];
}

/* An empty thing keeps a third of its colour, so that its kind is seen. */
static uint32_t colour_of(const struct look *look)
{
	bool flat = look->kind && look->kind->flat;
	double light = flat ? 1 : (1 + 2 * look->fraction) / 3;
	uint32_t c = look->kind ? look->kind->colour : 0;
	uint32_t r = (uint32_t)((c >> 16 & 255) * light);
	uint32_t g = (uint32_t)((c >> 8 & 255) * light);
	uint32_t b = (uint32_t)((c & 255) * light);

	return r << 16 | g << 8 | b;
}

/* The nearest of the 6 x 6 x 6 colours that start at 16 in the palette. */
static unsigned int palette_of(uint32_t c)
{
	unsigned int r = ((c >> 16 & 255) * 5 + 127) / 255;
	unsigned int g = ((c >> 8 & 255) * 5 + 127) / 255;
	unsigned int b = ((c & 255) * 5 + 127) / 255;

	return 16 + 36 * r + 6 * g + b;
}

static void set_background(struct out *out, enum picture_colour colour,
			   uint32_t c)
{
	if (colour == PICTURE_256)
		out_printf(out, "\033[48;5;%um", palette_of(c));
	else
		out_printf(out, "\033[48;2;%u;%u;%um", c >> 16, c >> 8 & 255,
			   c & 255);
}

static void put_plain_line(const struct picture *p, struct out *out,
			   uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		struct look look = look_at(p, from);

		out_char(out, mark_of(&look));
	}
	out_char(out, '\n');
}

static void put_colour_line(const struct picture *p, struct out *out,
			    uint64_t from, uint64_t to,
			    enum picture_colour colour)
{
	uint32_t now = UINT32_MAX;

	for (; from < to; from++) {
		struct look look = look_at(p, from);
		uint32_t c = colour_of(&look);

		if (c != now)
			set_background(out, colour, c);
		now = c;
		out_char(out, ' ');
	}
	out_string(out, "\033[0m\n");
}

static void put_legend(const struct picture *p, struct out *out,
		       enum picture_colour colour)
{
	unsigned int k;

	for (k = 0; k < p->count; k++) {
		const struct picture_kind *kind = &p->kinds[k];

		if (colour == PICTURE_PLAIN) {
			out_string(out, kind->marks);
		} else {
			set_background(out, colour, kind->colour);
			out_string(out, "  \033[0m");
		}
		out_printf(out, " %s\n", kind->name);
	}
	if (p->cells && p->total > p->cells)
		out_printf(out, "one cell: %.4g\n",
			   (double)p->total / (double)p->cells);
}

void picture_text(const struct picture *p, struct out *out,
		  enum picture_colour colour)
{
	uint64_t from, to;

	for (from = 0; from < p->cells; from = to) {
		to = from + p->width < p->cells ? from + p->width : p->cells;
		if (colour == PICTURE_PLAIN)
			put_plain_line(p, out, from, to);
		else
			put_colour_line(p, out, from, to, colour);
	}
	put_legend(p, out, colour);
}

/* Puts the cells from FROM to TO of one line, a rectangle per equal run. */
static void put_svg_line(const struct picture *p, struct out *out,
			 uint64_t from, uint64_t to, unsigned int cell)
{
	uint64_t x0 = from, y = from / p->width * cell, run;

	for (; from < to; from = run) {
		struct look look = look_at(p, from);
		uint32_t c = colour_of(&look);

		for (run = from + 1; run < to; run++) {
			struct look next = look_at(p, run);

			if (colour_of(&next) != c)
				break;
		}
		out_printf(out,
			   "<rect x=\"%llu\" y=\"%llu\" width=\"%llu\" "
			   "height=\"%u\" fill=\"#%06x\"/>\n",
			   (unsigned long long)((from - x0) * cell),
			   (unsigned long long)y,
			   (unsigned long long)((run - from) * cell), cell, c);
	}
}

#define LEGEND_STEP 18		/* pixels per line of the legend */

static void put_svg_legend(const struct picture *p, struct out *out,
			   uint64_t top)
{
	unsigned int k;

	for (k = 0; k < p->count; k++) {
		unsigned long long y = top + 4 + k * LEGEND_STEP;

		out_printf(out,
			   "<rect x=\"0\" y=\"%llu\" width=\"14\" "
			   "height=\"14\" fill=\"#%06x\"/>\n"
			   "<text x=\"20\" y=\"%llu\">%s</text>\n",
			   y, p->kinds[k].colour, y + 12, p->kinds[k].name);
	}
}

void picture_svg_size(const struct picture *p, unsigned int cell,
		      unsigned int *width, unsigned int *height)
{
	uint64_t lines = (p->cells + p->width - 1) / p->width;

	*width = p->width * cell;
	*height = (unsigned int)lines * cell + 4 + p->count * LEGEND_STEP;
}

void picture_svg(const struct picture *p, struct out *out, unsigned int cell)
{
	unsigned int width, height;
	uint64_t from, to;

	picture_svg_size(p, cell, &width, &height);
	out_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		   "height=\"%u\" font-family=\"sans-serif\" "
		   "font-size=\"13\" shape-rendering=\"crispEdges\">\n",
		   width, height);
	for (from = 0; from < p->cells; from = to) {
		to = from + p->width < p->cells ? from + p->width : p->cells;
		put_svg_line(p, out, from, to, cell);
	}
	put_svg_legend(p, out, (p->cells + p->width - 1) / p->width * cell);
	out_string(out, "</svg>\n");
}
