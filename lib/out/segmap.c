// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Maps of segments.
 *
 * A map shows where the next writes go, which segments are worth cleaning, and which
 * ones are held by snapshots.  Each cell counts its segments by class and sums their
 * shares; its appearance is computed when the map is put.  Segments are assigned to
 * cells in proportion, so at most the last line is incomplete, for any numbers.
 */
#include "out/segmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/size.h"
#include "base/wide.h"
#include "out/number.h"

#define FULL_PERCENT 90
#define FEW 32u			/* cells per line of an SVG of few segments */
#define MANY 96u
#define TEXT 128
#define NUMBERS 64u		/* pixels for the numbers at the left */
#define ABOVE 8u		/* pixels for the first number */
#define NUMBER_STEP 24u		/* between two numbers, at least */
#define LEGEND_GAP 36u		/* above the legend, with the scale */
#define CELL_MIN 4u		/* height of a cell */
#define CELL_MAX 24u
#define GAPS_MIN 6u		/* smallest cell with border lines, in pixels */

static const struct class {
	const char *name;	/* in the legend */
	const char *marks;	/* characters from empty to full, 1 or more */
	enum svg_colour colour;	/* of a full cell */
	bool important;		/* shown if any segment of the cell has it */
	bool flat;		/* its colour is independent of the share */
} classes[SEGMAP_ALL] = {
	[SEGMAP_CLEAN] = { "clean", ".", SVG_NONE, false, true },
	[SEGMAP_DEAD] = { "dead, nothing to keep", "x", SVG_VERMILION, false, true },
	[SEGMAP_PARTLY] = { "partly live", "123456789", SVG_ORANGE, false, false },
	[SEGMAP_FULL] = { "full, at least 90 % live", "#", SVG_BLUE, false, false },
	[SEGMAP_SNAPSHOT] = { "mostly held by snapshots", "s", SVG_SKY, false, false },
	[SEGMAP_UNKNOWN] = { "in use, contents unknown", "?", SVG_GRAY, false, true },
	[SEGMAP_ERROR] = { "erroneous", "E", SVG_PURPLE, true, true },
	[SEGMAP_ACTIVE] = { "active, being written or next", "A", SVG_INK, true, true },
	[SEGMAP_VICTIM] = { "being cleaned", "v", SVG_PURPLE, true, true },
	[SEGMAP_HELD] = { "not to be cleaned", "h", SVG_GRAY, false, true },
};

const char *const segmap_keys[SEGMAP_CLASSES] = {
	[SEGMAP_CLEAN] = "clean",	[SEGMAP_DEAD] = "dead",
	[SEGMAP_PARTLY] = "partly",	[SEGMAP_FULL] = "full",
	[SEGMAP_SNAPSHOT] = "snapshot", [SEGMAP_UNKNOWN] = "unknown",
	[SEGMAP_ERROR] = "error",	[SEGMAP_ACTIVE] = "active",
};

struct cell {
	double sum;			/* of the shares */
	uint32_t segments;
	uint32_t of_class[SEGMAP_ALL];
};

struct segmap {
	struct segmap_volume volume;
	unsigned int width;		/* cells per line */
	uint64_t ncells;		/* used cells, at most one per segment */
	uint64_t counts[SEGMAP_ALL];
	struct cell cells[];
};

/* The appearance of a cell. */
struct look {
	const struct class *class;	/* NULL: nothing was added */
	double share;
	int shade;		/* 0 ... SVG_SHADES: the share, rounded */
};

enum segmap_class segmap_class_of(const struct segmap_segment *s)
{
	if (s->error)
		return SEGMAP_ERROR;
	if (s->active)
		return SEGMAP_ACTIVE;
	if (!s->dirty)
		return SEGMAP_CLEAN;
	if (s->victim || s->held)
		return s->victim ? SEGMAP_VICTIM : SEGMAP_HELD;
	if (!s->counted)
		return SEGMAP_UNKNOWN;
	if (!s->kept)
		return SEGMAP_DEAD;
	if (s->snapshot > s->live)
		return SEGMAP_SNAPSHOT;
	return (uint64_t)s->kept * 100 >= (uint64_t)s->blocks * FULL_PERCENT ?
		       SEGMAP_FULL :
		       SEGMAP_PARTLY;
}

void segmap_titles(const struct segmap_volume *v, char title[SEGMAP_TITLE_MAX],
		   char subtitle[SEGMAP_TITLE_MAX])
{
	char size[SIZE_TEXT_MAX];

	snprintf(title, SEGMAP_TITLE_MAX, "%s, %s",
		 *v->label ? v->label : "NILFS2 volume",
		 size_format(v->device_bytes, size));
	snprintf(subtitle, SEGMAP_TITLE_MAX,
		 "%llu segments of %s, at checkpoint %llu",
		 (unsigned long long)v->segments,
		 size_format(v->segment_bytes, size),
		 (unsigned long long)v->checkpoint);
}

int segmap_open(struct context *cx, const struct segmap_volume *v,
		unsigned int width, unsigned int height, struct segmap **map)
{
	unsigned int side = v->segments <= (uint64_t)FEW * FEW ? FEW : MANY;
	uint64_t cells, lines;
	struct segmap *m;

	width = width ? width : side;
	height = height ? height : side;
	lines = (v->segments + width - 1) / width;
	cells = width * (lines < height ? lines : height);
	if (cells > SEGMAP_CELLS_MAX)
		return fail(cx, -EINVAL, "map of %u x %u cells", width, height);
	if (cells > v->segments)
		cells = v->segments;
	m = calloc(1, sizeof(*m) + cells * sizeof(m->cells[0]));
	if (!m)
		return fail(cx, -ENOMEM, "map of segments");
	m->volume = *v;
	m->width = width;
	m->ncells = cells;
	*map = m;
	return 0;
}

void segmap_add(struct segmap *m, uint64_t segnum,
		const struct segmap_segment *s)
{
	uint64_t total = m->volume.segments;
	unsigned int class = segmap_class_of(s);
	struct cell *cell;

	if (segnum >= total)
		return;
	m->counts[class]++;
	cell = &m->cells[wide_mul_div(segnum, m->ncells, 0, total)];
	if (cell->segments == UINT32_MAX)
		return;
	cell->segments++;
	cell->of_class[class]++;
	if (s->kept)
		cell->sum += s->kept < s->blocks ? (double)s->kept / s->blocks : 1;
}

/* The first segment of cell I; the next cell begins after its last one. */
static unsigned long long first_of(const struct segmap *m, uint64_t i)
{
	return wide_mul_div(i, m->volume.segments, m->ncells - 1, m->ncells);
}

static struct look look_of_cell(const struct segmap *m, uint64_t i)
{
	const struct cell *cell = &m->cells[i];
	struct look look = { .shade = SVG_SHADES };
	uint32_t most = 0;
	unsigned int k;

	if (!cell->segments)
		return look;
	look.share = cell->sum / cell->segments;
	for (k = 0; k < SEGMAP_ALL; k++) {
		if (cell->of_class[k] && classes[k].important) {
			look.class = &classes[k];
			break;
		}
		if (cell->of_class[k] > most) {
			most = cell->of_class[k];
			look.class = &classes[k];
		}
	}
	if (!look.class->flat)
		look.shade = (int)(look.share * SVG_SHADES + 0.5);
	return look;
}

/* "one cell: 1 segment (8 MiB)" */
static char *scale_of(const struct segmap *m, char buf[TEXT])
{
	double n = m->ncells ? (double)m->volume.segments / (double)m->ncells : 1;
	double bytes = n * (double)m->volume.segment_bytes;
	char size[SIZE_TEXT_MAX];

	size_format((uint64_t)bytes, size);
	snprintf(buf, TEXT, bytes > 0 ? "one cell: %.4g segment%s (%s)" :
					"one cell: %.4g segment%s",
		 n, n > 1 ? "s" : "", size);
	return buf;
}

/*
 * Puts the background of a terminal for LIGHT, 0 ... 1, of CLASS (NULL: none), unless
 * it is the same as LAST: in 24 bits, or as the nearest of the 6 x 6 x 6 colours
 * from 16 on in the palette.
 */
static void put_background(struct out *out, enum segmap_colour colour,
			   const struct class *class, double light, uint32_t *last)
{
	uint32_t c = class ? svg_paints[class->colour].dark : 0, rgb[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		rgb[i] = (uint32_t)((c >> (16 - 8 * i) & 255) * light);
	c = rgb[0] << 16 | rgb[1] << 8 | rgb[2];
	if (c == *last)
		return;
	*last = c;
	if (colour == SEGMAP_TRUECOLOR) {
		out_printf(out, "\033[48;2;%u;%u;%um", rgb[0], rgb[1], rgb[2]);
		return;
	}
	for (i = 0; i < 3; i++)
		rgb[i] = (rgb[i] * 5 + 127) / 255;
	out_printf(out, "\033[48;5;%um", 16 + 36 * rgb[0] + 6 * rgb[1] + rgb[2]);
}

void segmap_text(const struct segmap *m, struct out *out, enum segmap_colour colour)
{
	int digits = (int)number_digits(m->volume.segments);
	bool plain = colour == SEGMAP_PLAIN;
	uint32_t last = UINT32_MAX;
	char scale[TEXT];
	unsigned int k;
	uint64_t i;

	for (i = 0; i < m->ncells; i++) {
		struct look look = look_of_cell(m, i);

		if (i % m->width == 0) {
			out_printf(out, "%*llu ", digits, first_of(m, i));
			last = UINT32_MAX;
		}
		if (plain && look.class) {
			size_t n = strlen(look.class->marks);
			size_t mark = (size_t)(look.share * (double)n);

			out_char(out, look.class->marks[mark < n ? mark : n - 1]);
		} else {
			/* An empty segment keeps a third of its colour. */
			if (!plain)
				put_background(out, colour, look.class,
					       look.class && look.class->flat ? 1 :
					       (1 + 2 * look.share) / 3, &last);
			out_char(out, ' ');
		}
		if (i + 1 == m->ncells || (i + 1) % m->width == 0)
			out_string(out, plain ? "\n" : "\033[0m\n");
	}
	out_printf(out, "\n%s\n", scale_of(m, scale));
	/* The mark or colour of each existing class, and the number of its segments. */
	for (k = 0; k < SEGMAP_ALL; k++) {
		if (!m->counts[k])
			continue;
		if (plain) {
			out_printf(out, "%10s", classes[k].marks);
		} else {
			out_repeat(out, ' ', 8);
			last = UINT32_MAX;
			put_background(out, colour, &classes[k], 1, &last);
			out_string(out, "  \033[0m");
		}
		out_printf(out, "  %-28s %llu\n", classes[k].name,
			   (unsigned long long)m->counts[k]);
	}
}

void segmap_svg(const struct segmap *m, struct svg *s, const char *title)
{
	unsigned int width = m->width, cell = (SVG_WIDTH - NUMBERS) / width;
	unsigned int lines = (unsigned int)((m->ncells + width - 1) / width);
	unsigned int n = 0, k, at, parts, sample;
	uint64_t line;
	unsigned long long first, last;
	struct look look, next;
	uint64_t from, to;
	char text[TEXT];
	double sum;

	cell = cell < CELL_MIN ? CELL_MIN : cell > CELL_MAX ? CELL_MAX : cell;
	for (k = 0; k < SEGMAP_ALL; k++)
		n += m->counts[k] != 0;
	svg_panel(s, title, (struct svg_box){
		.left = NUMBERS, .top = ABOVE, .height = lines * cell,
		.bottom = LEGEND_GAP, .legend = n,
	});
	/* One unit is one cell of any width. */
	out_printf(s->out, "<svg width=\"100%%\" height=\"%u\" viewBox=\"0 0 %u "
		   "%u\" preserveAspectRatio=\"none\" "
		   "shape-rendering=\"crispEdges\" overflow=\"visible\">\n",
		   lines * cell, width, lines);
	/*
	 * Adjacent cells of the same appearance are one rectangle with one tooltip:
	 * "segments 12-14: partly live, 40 % to keep".
	 */
	for (from = 0; from < m->ncells; from = to) {
		look = next = look_of_cell(m, from);
		sum = 0;
		for (to = from; next.class == look.class &&
				next.shade == look.shade;) {
			sum += next.share;
			if (++to == m->ncells || to % width == 0)
				break;
			next = look_of_cell(m, to);
		}
		if (!look.class)
			continue;
		first = first_of(m, from);
		last = first_of(m, to) - 1;
		n = (unsigned int)snprintf(text, TEXT, last > first ?
					   "segments %llu\xe2\x80\x93%llu" :
					   "segment %llu", first, last);
		snprintf(text + n, TEXT - n, look.class->flat ? ": %s" :
			 ": %s, %.0f %% to keep", look.class->name,
			 100 * sum / (double)(to - from));
		line = from / width;
		svg_rect(s, "", (double)(from % width), (double)line,
			 (double)(to - from), 1, look.class->colour, look.shade,
			 text);
	}
	if (cell >= GAPS_MIN) {
		out_printf(s->out, "<path class=\"gap\" stroke=\"#ffffff\" "
			   "stroke-width=\"%.3f\" pointer-events=\"none\" d=\"",
			   1.0 / cell);
		for (at = 0; at <= width; at++)
			out_printf(s->out, "M%u 0v%u", at, lines);
		for (at = 0; at <= lines; at++)
			out_printf(s->out, "M0 %uh%u", at, width);
		out_string(s->out, "\"/>\n");
	}
	out_string(s->out, "</svg>\n");
	/* The number of the first segment, beside every few lines. */
	for (at = 0; at < lines; at += (NUMBER_STEP + cell - 1) / cell) {
		snprintf(text, TEXT, "%llu", first_of(m, (uint64_t)at * width));
		svg_text(s, 0, -8, at * cell + cell / 2.0 + 4, "end", "dim", text);
	}
	svg_text(s, 0, 0, lines * cell + LEGEND_GAP - 10, "start", "dim",
		 scale_of(m, text));
	for (k = n = 0; k < SEGMAP_ALL; k++) {
		if (!m->counts[k])
			continue;
		snprintf(text, TEXT, "%s: %llu", classes[k].name,
			 (unsigned long long)m->counts[k]);
		svg_legend(s, n++, text);
		parts = classes[k].flat ? 1 : 5;
		sample = SVG_SAMPLE / parts;
		for (at = 0; at < parts; at++)
			svg_rect(s, "", at * sample, 0, sample, 12, classes[k].colour,
				 (int)(SVG_SHADES * (at + 1) / parts), NULL);
		out_string(s->out, "</svg>\n");
	}
	out_string(s->out, "</svg>\n");
}

int segmap_document(struct context *cx, struct out *out, struct segmap *const *maps,
		    const char *const *names, unsigned int n)
{
	char title[SEGMAP_TITLE_MAX], subtitle[SEGMAP_TITLE_MAX];
	struct svg s = { .page = false };
	int err = out_open_memory(cx, &s.out);
	unsigned int i;

	if (err)
		return err;
	for (i = 0; i < n; i++)
		segmap_svg(maps[i], &s, names[i]);
	segmap_titles(&maps[n - 1]->volume, title, subtitle);
	return svg_close(&s, cx, out, title, subtitle);
}
