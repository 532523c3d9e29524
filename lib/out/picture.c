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
#include <stdio.h>
#include <stdlib.h>

#include "base/size.h"
#include "base/wide.h"
#include "out/number.h"

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
	uint64_t counts[PICTURE_KINDS_MAX];
	size_t cell_size;
	unsigned char *memory;
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
	p->cell_size = sizeof(struct cell) + (size_t)(count + count % 2) * 4;
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
	p->counts[kind]++;
	cell = cell_at(p, wide_mul_div(index, p->cells, 0, p->total));
	if (cell->things == UINT32_MAX)
		return;
	cell->things++;
	cell->of_kind[kind]++;
	if (fraction > 0)
		cell->sum += fraction < 1 ? fraction : 1;
}

unsigned int picture_kinds(const struct picture *p)
{
	return p->count;
}

const struct picture_kind *picture_kind(const struct picture *p,
					unsigned int k)
{
	return &p->kinds[k];
}

uint64_t picture_count(const struct picture *p, unsigned int k)
{
	return p->counts[k];
}

uint64_t picture_cells(const struct picture *p)
{
	return p->cells;
}

unsigned int picture_width(const struct picture *p)
{
	return p->width;
}

uint64_t picture_first(const struct picture *p, uint64_t i)
{
	return wide_mul_div(i, p->total, p->cells - 1, p->cells);
}

struct picture_look picture_look(const struct picture *p, uint64_t i)
{
	const struct cell *cell = cell_at(p, i);
	struct picture_look look = { .kind = NULL };
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

static char mark_of(const struct picture_look *look)
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

/* The colour of a full one on a terminal. */
static uint32_t full_colour(const struct picture_kind *kind)
{
	return kind->class ? kind->dark : kind->colour;
}

/* An empty thing keeps a third of its colour, so that its kind is seen. */
static uint32_t colour_of(const struct picture_look *look)
{
	bool flat = look->kind && look->kind->flat;
	double light = flat ? 1 : (1 + 2 * look->fraction) / 3;
	uint32_t c = look->kind ? full_colour(look->kind) : 0;
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
		struct picture_look look = picture_look(p, from);

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
		struct picture_look look = picture_look(p, from);
		uint32_t c = colour_of(&look);

		if (c != now)
			set_background(out, colour, c);
		now = c;
		out_char(out, ' ');
	}
	out_string(out, "\033[0m\n");
}

char *picture_scale(const struct picture *p,
		    const struct picture_labels *labels,
		    char buf[PICTURE_SCALE_MAX])
{
	double things = p->cells ? (double)p->total / (double)p->cells : 1;
	char size[SIZE_TEXT_MAX];
	int n = snprintf(buf, PICTURE_SCALE_MAX, "one cell: %.4g %s%s", things,
			 labels->thing, things > 1 ? "s" : "");

	size_format((uint64_t)(things * (double)labels->bytes), size);
	if (labels->bytes && n < PICTURE_SCALE_MAX)
		snprintf(buf + n, (size_t)(PICTURE_SCALE_MAX - n), " (%s)",
			 size);
	return buf;
}

/* The mark or colour of each kind there is, and how many things are so. */
static void put_legend(const struct picture *p, struct out *out,
		       enum picture_colour colour)
{
	unsigned int k;

	for (k = 0; k < p->count; k++) {
		const struct picture_kind *kind = &p->kinds[k];

		if (!p->counts[k])
			continue;
		if (colour == PICTURE_PLAIN) {
			out_printf(out, "%10s", kind->marks);
		} else {
			out_repeat(out, ' ', 8);
			set_background(out, colour, full_colour(kind));
			out_string(out, "  \033[0m");
		}
		out_printf(out, "  %-28s %llu\n", kind->name,
			   (unsigned long long)p->counts[k]);
	}
}

void picture_text(const struct picture *p, struct out *out,
		  const struct picture_labels *labels,
		  enum picture_colour colour)
{
	char scale[PICTURE_SCALE_MAX];
	int digits = (int)number_digits(p->total);
	uint64_t from, to;

	for (from = 0; from < p->cells; from = to) {
		to = from + p->width < p->cells ? from + p->width : p->cells;
		out_printf(out, "%*llu ", digits,
			   (unsigned long long)picture_first(p, from));
		if (colour == PICTURE_PLAIN)
			put_plain_line(p, out, from, to);
		else
			put_colour_line(p, out, from, to, colour);
	}
	out_printf(out, "\n%s\n", picture_scale(p, labels, scale));
	put_legend(p, out, colour);
}
