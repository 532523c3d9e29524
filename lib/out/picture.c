// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pictures: the map of a volume on one screen.
 *
 * Each cell counts its things by kind and sums their fractions; its appearance is
 * computed when the picture is put.  Things are mapped to cells in proportion, so at
 * most the last row of the map is incomplete, for any numbers.
 */
#include "out/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/size.h"
#include "base/wide.h"
#include "out/number.h"

#define SCALE_MAX 128
#define NUMBERS 64u		/* pixels for the numbers at the left */
#define ABOVE 8u		/* pixels for the first number */
#define NUMBER_STEP 24u		/* between two numbers, at least */
#define LEGEND_GAP 16u		/* above the legend */
#define CELL_MIN 4u		/* height of a cell */
#define CELL_MAX 24u
#define GAPS_MIN 6u		/* smallest cell with border lines, in pixels */

struct cell {
	double sum;			/* of the fractions */
	uint32_t things;
	uint32_t of_kind[];		/* one per kind */
};

struct picture {
	struct picture_things things;
	unsigned int width;		/* cells per line */
	uint64_t cells;			/* used cells, at most one per thing */
	uint64_t counts[PICTURE_KINDS_MAX];
	size_t cell_size;
	_Alignas(struct cell) unsigned char memory[];
};

/* The appearance of a cell. */
struct look {
	const struct picture_kind *kind;	/* NULL: nothing was added */
	double fraction;
	int shade;		/* 0 ... SVG_SHADES: the fraction, rounded */
};

int picture_open(struct context *cx, const struct picture_things *things,
		 unsigned int width, unsigned int height, struct picture **picture)
{
	uint64_t cells = (uint64_t)width * height;
	size_t cell_size;
	struct picture *p;

	if (!cells || cells > PICTURE_CELLS_MAX || !things->count ||
	    things->count > PICTURE_KINDS_MAX)
		return fail(cx, -EINVAL, "picture of %u x %u cells", width, height);
	if (cells > things->total)
		cells = things->total;
	cell_size = sizeof(struct cell) +
		    (size_t)(things->count + things->count % 2) * 4;
	p = calloc(1, sizeof(*p) + cells * cell_size);
	if (!p)
		return fail(cx, -ENOMEM, "picture of %u x %u cells", width, height);
	p->things = *things;
	p->width = width;
	p->cells = cells;
	p->cell_size = cell_size;
	*picture = p;
	return 0;
}

void picture_add(struct picture *p, uint64_t index, unsigned int kind,
		 double fraction)
{
	struct cell *cell;

	if (index >= p->things.total || kind >= p->things.count)
		return;
	p->counts[kind]++;
	cell = (void *)(p->memory + p->cell_size *
		wide_mul_div(index, p->cells, 0, p->things.total));
	if (cell->things == UINT32_MAX)
		return;
	cell->things++;
	cell->of_kind[kind]++;
	if (fraction > 0)
		cell->sum += fraction < 1 ? fraction : 1;
}

/* The first thing of cell I; the next cell begins after its last one. */
static unsigned long long first_of(const struct picture *p, uint64_t i)
{
	return wide_mul_div(i, p->things.total, p->cells - 1, p->cells);
}

static struct look look_of_cell(const struct picture *p, uint64_t i)
{
	const struct cell *cell = (const void *)(p->memory + i * p->cell_size);
	struct look look = { .shade = SVG_SHADES };
	uint32_t most = 0;
	unsigned int k;

	if (!cell->things)
		return look;
	look.fraction = cell->sum / cell->things;
	for (k = 0; k < p->things.count; k++) {
		if (cell->of_kind[k] && p->things.kinds[k].important) {
			look.kind = &p->things.kinds[k];
			break;
		}
		if (cell->of_kind[k] > most) {
			most = cell->of_kind[k];
			look.kind = &p->things.kinds[k];
		}
	}
	if (look.kind && !look.kind->flat)
		look.shade = (int)(look.fraction * SVG_SHADES + 0.5);
	return look;
}

/* "one cell: 1 segment (8 MiB)" */
static char *scale_of(const struct picture *p, char buf[SCALE_MAX])
{
	double things = p->cells ? (double)p->things.total / (double)p->cells : 1;
	char size[SIZE_TEXT_MAX];
	int n = snprintf(buf, SCALE_MAX, "one cell: %.4g %s%s", things,
			 p->things.name, things > 1 ? "s" : "");

	size_format((uint64_t)(things * (double)p->things.bytes), size);
	if (p->things.bytes && n < SCALE_MAX)
		snprintf(buf + n, (size_t)(SCALE_MAX - n), " (%s)", size);
	return buf;
}

/*
 * Puts the background of a terminal for LIGHT, 0 ... 1, of KIND (NULL: none), unless
 * it is the same as LAST: in 24 bits, or as the nearest of the 6 x 6 x 6 colours
 * from 16 on in the palette.
 */
static void put_background(struct out *out, enum picture_colour colour,
			   const struct picture_kind *kind, double light,
			   uint32_t *last)
{
	uint32_t c = kind ? svg_paints[kind->colour].dark : 0, rgb[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		rgb[i] = (uint32_t)((c >> (16 - 8 * i) & 255) * light);
	c = rgb[0] << 16 | rgb[1] << 8 | rgb[2];
	if (c == *last)
		return;
	*last = c;
	if (colour == PICTURE_TRUECOLOR) {
		out_printf(out, "\033[48;2;%u;%u;%um", rgb[0], rgb[1], rgb[2]);
		return;
	}
	for (i = 0; i < 3; i++)
		rgb[i] = (rgb[i] * 5 + 127) / 255;
	out_printf(out, "\033[48;5;%um", 16 + 36 * rgb[0] + 6 * rgb[1] + rgb[2]);
}

void picture_text(const struct picture *p, struct out *out,
		  enum picture_colour colour)
{
	int digits = (int)number_digits(p->things.total);
	bool plain = colour == PICTURE_PLAIN;
	uint32_t last = UINT32_MAX;
	char scale[SCALE_MAX];
	unsigned int k;
	uint64_t i;

	for (i = 0; i < p->cells; i++) {
		struct look look = look_of_cell(p, i);

		if (i % p->width == 0) {
			out_printf(out, "%*llu ", digits, first_of(p, i));
			last = UINT32_MAX;
		}
		if (plain && look.kind) {
			size_t n = strlen(look.kind->marks);
			size_t mark = (size_t)(look.fraction * (double)n);

			out_char(out, look.kind->marks[mark < n ? mark : n - 1]);
		} else {
			/* An empty thing keeps a third of its colour. */
			if (!plain)
				put_background(out, colour, look.kind,
					       look.kind && look.kind->flat ? 1 :
					       (1 + 2 * look.fraction) / 3,
					       &last);
			out_char(out, ' ');
		}
		if (i + 1 == p->cells || (i + 1) % p->width == 0)
			out_string(out, plain ? "\n" : "\033[0m\n");
	}
	out_printf(out, "\n%s\n", scale_of(p, scale));
	/* The mark or colour of each existing kind, and the number of its things. */
	for (k = 0; k < p->things.count; k++) {
		const struct picture_kind *kind = &p->things.kinds[k];

		if (!p->counts[k])
			continue;
		if (plain) {
			out_printf(out, "%10s", kind->marks);
		} else {
			out_repeat(out, ' ', 8);
			last = UINT32_MAX;
			put_background(out, colour, kind, 1, &last);
			out_string(out, "  \033[0m");
		}
		out_printf(out, "  %-28s %llu\n", kind->name,
			   (unsigned long long)p->counts[k]);
	}
}

void picture_svg(const struct picture *p, struct svg *s, const char *title)
{
	const struct picture_things *things = &p->things;
	unsigned int lines = (unsigned int)((p->cells + p->width - 1) / p->width);
	unsigned int columns = s->page ? 1 : 2, kinds = 0, n = 0, k, parts, step, at;
	unsigned int cell = (SVG_WIDTH - NUMBERS) / p->width;
	unsigned long long first, last;
	struct look look, next;
	struct svg_box box;
	char text[SCALE_MAX];
	uint64_t from, to;
	double sum;

	cell = cell < CELL_MIN ? CELL_MIN : cell > CELL_MAX ? CELL_MAX : cell;
	step = (NUMBER_STEP + cell - 1) / cell;
	for (k = 0; k < things->count; k++)
		kinds += p->counts[k] != 0;
	box = (struct svg_box){
		.left = NUMBERS, .top = ABOVE, .height = lines * cell,
		.bottom = LEGEND_GAP + SVG_LEGEND_STEP *
			  (1 + (kinds + columns - 1) / columns),
	};
	svg_panel(s, title, &box);
	/* One unit is one cell of any width. */
	out_printf(s->out, "<svg width=\"100%%\" height=\"%u\" viewBox=\"0 0 %u "
		   "%u\" preserveAspectRatio=\"none\" "
		   "shape-rendering=\"crispEdges\" overflow=\"visible\">\n",
		   box.height, p->width, lines);
	/*
	 * Adjacent cells of the same appearance are one rectangle with one tooltip:
	 * "segments 12-14: partly live, 40 % to keep".
	 */
	for (from = 0; from < p->cells; from = to) {
		look = next = look_of_cell(p, from);
		sum = 0;
		for (to = from; next.kind == look.kind &&
				next.shade == look.shade;) {
			sum += next.fraction;
			if (++to == p->cells || to % p->width == 0)
				break;
			next = look_of_cell(p, to);
		}
		if (!look.kind)
			continue;
		first = first_of(p, from);
		last = first_of(p, to) - 1;
		svg_rect(s, "", (double)(from % p->width),
			 (double)(from / p->width), (double)(to - from), 1,
			 look.kind->colour, look.shade);
		out_printf(s->out, "><title>%s%s %llu", things->name,
			   last > first ? "s" : "", first);
		if (last > first)
			out_printf(s->out, "\xe2\x80\x93%llu", last);
		out_printf(s->out, ": %s", look.kind->name);
		if (!look.kind->flat)
			out_printf(s->out, ", %.0f %% %s",
				   100 * sum / (double)(to - from), things->share);
		out_string(s->out, "</title></rect>\n");
	}
	if (cell >= GAPS_MIN) {
		out_printf(s->out, "<path class=\"gap\" stroke=\"#ffffff\" "
			   "stroke-width=\"%.3f\" pointer-events=\"none\" d=\"",
			   1.0 / cell);
		for (at = 0; at <= p->width; at++)
			out_printf(s->out, "M%u 0v%u", at, lines);
		for (at = 0; at <= lines; at++)
			out_printf(s->out, "M0 %uh%u", at, p->width);
		out_string(s->out, "\"/>\n");
	}
	out_string(s->out, "</svg>\n");
	/* The number of the first thing, beside every few lines. */
	for (at = 0; at < lines; at += step) {
		snprintf(text, sizeof(text), "%llu",
			 first_of(p, (uint64_t)at * p->width));
		svg_text(s, 0, -8, at * cell + cell / 2.0 + 4, SVG_END, "dim",
			 text);
	}
	svg_text(s, 0, 0, box.height + LEGEND_GAP + 10, SVG_START, "dim",
		 scale_of(p, text));
	for (k = 0; k < things->count; k++) {
		const struct picture_kind *kind = &things->kinds[k];

		if (!p->counts[k])
			continue;
		snprintf(text, sizeof(text), "%s: %llu", kind->name,
			 (unsigned long long)p->counts[k]);
		svg_legend(s, box.height + LEGEND_GAP + SVG_LEGEND_STEP, n++, columns,
			   text);
		parts = kind->flat ? 1 : 5;
		for (at = 0; at < parts; at++) {
			svg_rect(s, "", at * SVG_SAMPLE / parts, 0,
				 SVG_SAMPLE / parts, 12, kind->colour,
				 kind->flat ? SVG_SHADES :
				 (int)(SVG_SHADES * at / (parts - 1)));
			out_string(s->out, "/>");
		}
		out_string(s->out, "</svg>\n");
	}
	out_string(s->out, "</svg>\n");
}
