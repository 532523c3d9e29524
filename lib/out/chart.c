// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Plots with axes.
 *
 * A frame (title, grid, ticks, names of both axes) is put first; it says how
 * numbers become pixels for whatever is drawn into it.  A line of many more
 * points than pixels is thinned: of those in one column, the first is drawn.
 */
#include "out/chart.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/timefmt.h"
#include "out/markup.h"
#include "out/svg.h"

#define ABOVE 34u		/* pixels: title, and the name of y */
#define BELOW 44u		/* numbers and name of x */
#define LEFT 72u		/* numbers of y */
#define RIGHT 40u		/* half of a date */
#define TICK_X 110u		/* pixels between two of them, about */
#define TICK_Y 40u
#define LEGEND_STEP 18u
#define LEGEND_WIDTH 190u	/* for names, beside the plot */
#define POINTS 4		/* in a column of pixels, if there are no more */
#define PARTS_BAR 28u		/* pixels high */
#define LINE 2.0		/* pixels, of the last one */
#define LINE_STEP 3.0		/* more for each one below it */
#define LINE_MAX 11.0

/*
 * Axes.
 *
 * A step is 1, 2 or 5 times a power of ten, for bytes a power of two, for times
 * what divides the next larger unit.  Ends may be anything that a damaged
 * volume has: there are never more than CHART_TICKS_MAX ticks.
 */

#define CHART_TICKS_MAX 16
#define CHART_TICK_TEXT 96

struct chart_ticks {
	unsigned int count;
	double at[CHART_TICKS_MAX];
	double step;
};

#define MINUTE 60.0
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* The least whole number that is not less than V. */
static double chart_axis_round_up(double v)
{
	int64_t whole;

	if (!(v > -9e15 && v < 9e15))
		return v;	/* is whole */
	whole = (int64_t)v;
	return (double)whole + ((double)whole < v);
}

static double decimal_step(double least)
{
	double power = 1e-6, times;

	while (power * 10 <= least)
		power *= 10;
	times = least / power;
	return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static double binary_step(double least)
{
	double step = 1;

	while (step < least)
		step *= 2;
	return step;
}

static double time_step(double least)
{
	static const double steps[] = {
		1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE,
		10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
		3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY,
		30 * DAY, 60 * DAY, 91 * DAY, 182 * DAY, 365 * DAY,
	};
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (least <= steps[i])
			return steps[i];
	return 365 * DAY * decimal_step(least / (365 * DAY));
}

static double step_of(enum chart_unit unit, double least)
{
	switch (unit) {
	case CHART_TIME:
		return time_step(least);
	case CHART_BYTES:
		return binary_step(least);
	default:
		return decimal_step(least);
	}
}

/* About WANTED round numbers between both ends of an axis. */
static void chart_axis_ticks(const struct chart_axis *a, unsigned int wanted,
			     struct chart_ticks *t)
{
	double range = a->max - a->min, first;
	unsigned int i;

	t->count = 0;
	t->step = step_of(a->unit, range > 0 ? range / wanted : 1);
	first = chart_axis_round_up(a->min / t->step);
	for (i = 0; i < CHART_TICKS_MAX; i++) {
		double at = (first + i) * t->step;

		if (at > a->max + t->step / 1000)
			break;
		t->at[t->count++] = at;
	}
}

static char *count_text(double v, double step, char buf[CHART_TICK_TEXT])
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };
	size_t unit = 0;

	while (unit < 5 && (v >= 1000 || v <= -1000) && step >= 100) {
		v /= 1000;
		step /= 1000;
		unit++;
	}
	snprintf(buf, CHART_TICK_TEXT, "%.6g%s", v, units[unit]);
	return buf;
}

static char *time_text(double v, double step, char buf[CHART_TICK_TEXT])
{
	char iso[TIMEFMT_ISO_MAX], *t;
	int64_t seconds = v < -9e18 ? INT64_MIN :
			  v > 9e18 ? INT64_MAX : (int64_t)v;

	timefmt_iso(seconds, iso);
	t = strchr(iso, 'T');
	if (step >= DAY)
		snprintf(buf, CHART_TICK_TEXT, "%.*s", (int)(t - iso), iso);
	else
		snprintf(buf, CHART_TICK_TEXT, "%.*s", step >= MINUTE ? 5 : 8,
			 t + 1);
	return buf;
}

/* Writes the number V at a tick of distance STEP and returns BUF. */
static char *chart_axis_text(enum chart_unit unit, double v, double step,
			     char buf[CHART_TICK_TEXT])
{
	char size[SIZE_TEXT_MAX];

	switch (unit) {
	case CHART_TIME:
		return time_text(v, step, buf);
	case CHART_BYTES:
		snprintf(buf, CHART_TICK_TEXT, "%s",
			 v < 1 ? "0" : size_format((uint64_t)v, size));
		return buf;
	case CHART_PERCENT:
		snprintf(buf, CHART_TICK_TEXT, "%.4g %%", v);
		return buf;
	default:
		return count_text(v, step, buf);
	}
}

/* The inner rectangle, and the axes that it has. */
struct frame {
	const struct chart *chart;
	double left, top, width, height;
	struct chart_axis x, y;
};

#define COLOURS 5u

/* Colour (0xRRGGBB) of the series with number I. */
static uint32_t chart_colour(unsigned int i)
{
	static const uint32_t colours[COLOURS] = {
		SVG_BLUE, SVG_ORANGE, SVG_SKY, SVG_PURPLE, SVG_VERMILION,
	};

	return colours[i % COLOURS];
}

/* Dashes distinguish the further uses of a colour. */
static const char *dashes_of(unsigned int i)
{
	static const char *const dashes[] = {
		"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 2\"",
		" stroke-dasharray=\"9 3 2 3\"",
	};

	return dashes[i / COLOURS % 4];
}

/*
 * Pixels of line I of N.  Each is drawn over the ones before and is narrower, so
 * that of lines in the same place every one can be seen.
 */
static double line_width(unsigned int i, unsigned int n)
{
	double widest = LINE + LINE_STEP * (n - 1);

	if (widest <= LINE_MAX)
		return LINE + LINE_STEP * (n - 1 - i);
	return LINE_MAX - (LINE_MAX - LINE) * i / (n - 1);
}

static double x_of(const struct frame *f, double v)
{
	return f->left + f->width * (v - f->x.min) / (f->x.max - f->x.min);
}

static double y_of(const struct frame *f, double v)
{
	return f->top + f->height -
	       f->height * (v - f->y.min) / (f->y.max - f->y.min);
}

static void put_x_tick(struct out *out, const struct frame *f, double at)
{
	out_printf(out, "<path class=\"axis\" stroke=\"#57606a\" "
		   "d=\"M%.1f %.1fv5\"/>\n", x_of(f, at),
		   f->top + f->height);
}

/* In two lines, one word after the other. */
static void put_words(struct out *out, const struct frame *f)
{
	double bottom = f->top + f->height;
	unsigned int i;

	for (i = 0; i < f->x.nwords; i++) {
		put_x_tick(out, f, i);
		svg_text(out, x_of(f, i), bottom + (i & 1 ? 28 : 16),
			 SVG_MIDDLE, "dim", f->x.words[i]);
	}
}

static void put_numbers(struct out *out, const struct frame *f)
{
	unsigned int wanted = (unsigned int)f->width / TICK_X + 1, i;
	double bottom = f->top + f->height;
	char text[CHART_TICK_TEXT];
	struct chart_ticks t;

	chart_axis_ticks(&f->x, wanted, &t);
	for (i = 0; i < t.count; i++) {
		put_x_tick(out, f, t.at[i]);
		svg_text(out, x_of(f, t.at[i]), bottom + 19, SVG_MIDDLE, "dim",
			 chart_axis_text(f->x.unit, t.at[i], t.step, text));
	}
}

static void put_x_axis(struct out *out, const struct frame *f)
{
	double bottom = f->top + f->height;

	if (f->x.words)
		put_words(out, f);
	else
		put_numbers(out, f);
	out_printf(out, "<path class=\"axis\" stroke=\"#57606a\" "
		   "d=\"M%.1f %.1fh%.1f\"/>\n", f->left, bottom, f->width);
	svg_text(out, f->left + f->width / 2, bottom + (f->x.words ? 42 : 38),
		 SVG_MIDDLE, "ink", f->x.label);
}

static void put_y_axis(struct out *out, const struct frame *f,
		       const struct chart_ticks *t)
{
	char text[CHART_TICK_TEXT];
	unsigned int i;

	for (i = 0; i < t->count; i++) {
		double y = y_of(f, t->at[i]);

		out_printf(out, "<path class=\"grid\" stroke=\"#d8dee4\" "
			   "d=\"M%.1f %.1fh%.1f\"/>\n", f->left, y, f->width);
		svg_text(out, f->left - 8, y + 4, SVG_END, "dim",
			 chart_axis_text(f->y.unit, t->at[i], t->step, text));
	}
	svg_text(out, f->left, f->top - 8, SVG_START, "ink", f->y.label);
}

static void put_frame(struct out *out, const struct chart *c,
		      unsigned int legend, struct frame *f)
{
	struct chart_ticks t;

	*f = (struct frame){
		.chart = c,
		.left = c->left + LEFT,
		.top = c->top + ABOVE + (c->title ? 14 : 0),
		.width = c->width - LEFT - RIGHT - legend,
		.x = c->x,
		.y = c->y,
	};
	f->height = c->top + c->height - BELOW - f->top;
	if (!(f->x.max > f->x.min))
		f->x.max = f->x.min + 1;
	if (!(f->y.max > f->y.min))
		f->y.max = f->y.min + 1;
	chart_axis_ticks(&f->y, (unsigned int)f->height / TICK_Y, &t);
	f->y.max = chart_axis_round_up(f->y.max / t.step) * t.step;
	if (f->y.unit == CHART_PERCENT && f->y.max > 100)
		f->y.max = 100;
	chart_axis_ticks(&f->y, (unsigned int)f->height / TICK_Y, &t);
	if (c->title) {
		out_printf(out, "<text x=\"%u\" y=\"%u\" class=\"ink\" "
			   "font-size=\"14\">", c->left, c->top + 14);
		markup_string(out, c->title);
		out_string(out, "</text>\n");
	}
	put_y_axis(out, f, &t);
	put_x_axis(out, f);
}

static void put_point_title(struct out *out, const struct frame *f,
			    const struct chart_series *s,
			    const struct chart_point *p)
{
	char x[CHART_TICK_TEXT], y[CHART_TICK_TEXT];
	size_t word = p->x < 0 ? 0 : (size_t)(p->x + 0.5);

	out_string(out, "<title>");
	markup_string(out, s->name);
	out_printf(out, ": %s", chart_axis_text(f->y.unit, p->y, 0, y));
	if (p->interval > 0)
		out_printf(out, " \xc2\xb1 %.3g", p->interval);
	out_string(out, " at ");
	markup_string(out, f->x.words && word < f->x.nwords ?
			      f->x.words[word] :
			      chart_axis_text(f->x.unit, p->x,
					      (f->x.max - f->x.min) / 8, x));
	out_string(out, "</title>");
}

/* How much less or more each may be. */
static void put_intervals(struct out *out, const struct frame *f,
			  const struct chart_series *s, uint32_t colour)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		const struct chart_point *p = &s->points[i];
		double high = y_of(f, p->y + p->interval);

		if (!(p->interval > 0))
			continue;
		out_printf(out, "<path class=\"interval\" fill=\"none\" "
			   "stroke=\"#%06x\" stroke-width=\"1.5\" "
			   "d=\"M%.1f %.1fh8m-4 0v%.1fm-4 0h8\">", colour,
			   x_of(f, p->x) - 4, high,
			   y_of(f, p->y - p->interval) - high);
		put_point_title(out, f, s, p);
		out_string(out, "</path>\n");
	}
}

/* A mark of series NUMBER: shapes distinguish the further uses of a colour. */
static void begin_mark(struct out *out, double x, double y, unsigned int number)
{
	static const char *const shapes[] = {
		"", "m-4 -4h8v8h-8z", "m0 -5l5 9h-10z", "m0 -5l5 5l-5 5l-5 -5z",
	};
	unsigned int shape = number / COLOURS % 4;

	if (shape)
		out_printf(out, "<path d=\"M%.1f %.1f%s\" ", x, y,
			   shapes[shape]);
	else
		out_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" ",
			   x, y);
	out_printf(out, "fill=\"#%06x\"", chart_colour(number));
}

static const char *end_mark(unsigned int number)
{
	return number / COLOURS % 4 ? "</path>\n" : "</circle>\n";
}

/* No line leads to a point that is alone. */
static bool has_dots(const struct chart_series *s)
{
	return s->dots || s->count == 1;
}

static void put_dots(struct out *out, const struct frame *f,
		     const struct chart_series *s, unsigned int number)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		begin_mark(out, x_of(f, s->points[i].x),
			   y_of(f, s->points[i].y), number);
		out_char(out, '>');
		put_point_title(out, f, s, &s->points[i]);
		out_string(out, end_mark(number));
	}
}

static void put_line(struct out *out, const struct frame *f,
		     const struct chart_series *s, unsigned int number,
		     unsigned int of)
{
	bool thin = (double)s->count > POINTS * f->width;
	int column = -1;
	size_t i;

	out_printf(out,
		   "<polyline fill=\"none\" stroke=\"#%06x\" "
		   "stroke-width=\"%.3g\" stroke-linejoin=\"round\"%s "
		   "points=\"", chart_colour(number), line_width(number, of),
		   dashes_of(number));
	for (i = 0; i < s->count; i++) {
		double x = x_of(f, s->points[i].x);

		if (thin && i && i + 1 < s->count && (int)x == column)
			continue;
		column = (int)x;
		out_printf(out, "%s%.1f,%.1f", i ? " " : "", x,
			   y_of(f, s->points[i].y));
	}
	out_string(out, "\"><title>");
	markup_string(out, s->name);
	out_string(out, "</title></polyline>\n");
}

static void put_legend(struct out *out, const struct frame *f,
		       const struct chart_series *series, unsigned int n)
{
	double x = f->left + f->width + 16;
	unsigned int i;

	for (i = 0; i < n; i++) {
		double y = f->top + 8 + i * LEGEND_STEP;

		if (has_dots(&series[i])) {
			begin_mark(out, x + 12, y, i);
			out_string(out, "/>\n");
		} else {
			out_printf(out, "<path stroke=\"#%06x\" "
				   "stroke-width=\"%.3g\"%s "
				   "d=\"M%.1f %.1fh24\"/>\n",
				   chart_colour(i), line_width(i, n),
				   dashes_of(i), x, y);
		}
		svg_text(out, x + 32, y + 4, SVG_START, "ink",
			 series[i].name);
	}
}

void chart_lines(struct out *out, const struct chart *c,
		 const struct chart_series *series, unsigned int n)
{
	struct frame f;
	unsigned int i;

	put_frame(out, c, n > 1 ? LEGEND_WIDTH : 0, &f);
	for (i = 0; i < n; i++) {
		if (has_dots(&series[i]))
			put_dots(out, &f, &series[i], i);
		else if (series[i].count)
			put_line(out, &f, &series[i], i, n);
	}
	for (i = 0; i < n; i++)
		put_intervals(out, &f, &series[i], chart_colour(i));
	if (n > 1)
		put_legend(out, &f, series, n);
}

static void put_bar(struct out *out, const struct frame *f,
		    const struct chart_bar *b)
{
	double x = x_of(f, b->from), width = x_of(f, b->to) - x;
	double y = y_of(f, b->value);
	char from[CHART_TICK_TEXT], to[CHART_TICK_TEXT];
	char v[CHART_TICK_TEXT];

	out_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		   "height=\"%.1f\" fill=\"#%06x\"><title>%s to %s: %.0f"
		   "</title></rect>\n", x + 1, y, width - 2,
		   f->top + f->height - y, SVG_BLUE,
		   chart_axis_text(f->x.unit, b->from, 0, from),
		   chart_axis_text(f->x.unit, b->to, 0, to), b->value);
	if (b->value > 0)
		svg_text(out, x + width / 2, y - 4, SVG_MIDDLE, "dim",
			 chart_axis_text(CHART_COUNT, b->value,
					 b->value < 1e5 ? 1 : 100, v));
}

void chart_bars(struct out *out, const struct chart *c,
		const struct chart_bar *bars, unsigned int n)
{
	struct chart taller = *c;
	struct frame f;
	unsigned int i;

	taller.y.max *= 1.1;	/* room for the number on the highest one */
	put_frame(out, &taller, 0, &f);
	for (i = 0; i < n; i++)
		put_bar(out, &f, &bars[i]);
}

static void put_part(struct out *out, const struct chart_part *p,
		     unsigned int line, double x, double width, double share)
{
	char class[32] = "", size[SIZE_TEXT_MAX];
	unsigned int y = PARTS_BAR + 16 + 20 * line;

	if (p->class)
		snprintf(class, sizeof(class), " class=\"%s\"", p->class);
	size_format(p->bytes, size);
	out_printf(out,
		   "<rect x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%u\" "
		   "fill=\"#%06x\"%s><title>%s: %s</title></rect>\n"
		   "<rect x=\"0\" y=\"%u\" width=\"24\" height=\"12\" "
		   "fill=\"#%06x\"%s/>\n",
		   x, width, PARTS_BAR, p->colour, class, p->name, size, y,
		   p->colour, class);
	svg_text(out, 34, y + 10, SVG_START, "ink", p->name);
	svg_text(out, 400, y + 10, SVG_END, "ink", size);
	snprintf(size, sizeof(size), "%.1f %%", 100 * share);
	svg_text(out, 470, y + 10, SVG_END, "dim", size);
}

void chart_parts(struct out *out, const struct chart_part *parts,
		 unsigned int n, unsigned int width)
{
	double total = 0, x = 0, share;
	unsigned int i;

	for (i = 0; i < n; i++)
		total += (double)parts[i].bytes;
	for (i = 0; i < n; i++) {
		share = total > 0 ? (double)parts[i].bytes / total : 0;
		put_part(out, &parts[i], i, x, width * share, share);
		x += width * share;
	}
}
