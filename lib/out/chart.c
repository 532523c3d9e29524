// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Plots with axes.
 *
 * A frame (title, grid, ticks, names of both axes) is put first; it determines the
 * positions of numbers for the content.  A line of many more points than pixels is
 * thinned: in each column of pixels only the first points are drawn.  The ends of
 * axes may be any numbers of a damaged volume, so the number of ticks is limited.
 */
#include "out/chart.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/timefmt.h"

#define LEFT 72u		/* pixels: numbers of y */
#define RIGHT 40u		/* for half of a date */
#define ABOVE 24u		/* name of y */
#define TITLE 24u		/* title above that, in a document */
#define BELOW 52u		/* numbers and name of x */
#define TICK_X 110u		/* between two of them, about */
#define TICK_Y 40u
#define TICKS_MAX 16
#define TICK_TEXT 96
#define LEGEND_STEP 18u
#define LEGEND_COLUMNS 4u
#define POINTS 4		/* points per column that are all drawn */
#define PARTS_BAR 28u
#define PARTS_STEP 20u
#define COLOURS 5u		/* further series differ by dashes and shapes */
#define LINE 2.0		/* pixels, of the last line */
#define LINE_STEP 2.0		/* additional width for each line below it */
#define LINE_MAX 8.0

#define MINUTE 60.0
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static const uint32_t colours[COLOURS] = {
	SVG_BLUE, SVG_ORANGE, SVG_SKY, SVG_PURPLE, SVG_VERMILION,
};

struct ticks {
	double first, step;
	unsigned int count;
};

struct frame {
	struct svg *svg;
	struct chart_axis x, y;
	double height;
};

/* The smallest whole number that is not less than V. */
static double round_up(double v)
{
	int64_t whole;

	if (!(v > -9e15 && v < 9e15))
		return v;	/* is whole */
	whole = (int64_t)v;
	return (double)whole + ((double)whole < v);
}

/*
 * About WANTED round numbers between the ends of an axis.  A step is 1, 2 or 5 times
 * a power of ten, for bytes a power of two, for times a divisor of the next larger
 * unit.
 */
static struct ticks ticks_of(const struct chart_axis *a, unsigned int wanted)
{
	static const double times[] = {
		1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE,
		10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
		3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY,
		30 * DAY, 60 * DAY, 91 * DAY, 182 * DAY, 365 * DAY,
	};
	enum { TIMES = sizeof(times) / sizeof(times[0]) };
	double range = a->max - a->min, least = range > 0 ? range / wanted : 1;
	bool fractions = a->unit == CHART_NUMBER || a->unit == CHART_PERCENT;
	struct ticks t = { .step = fractions ? 1e-6 : 1 };
	size_t i = 0;

	if (a->unit == CHART_BYTES) {
		while (t.step < least)
			t.step *= 2;
	} else if (a->unit == CHART_TIME && least <= times[TIMES - 1]) {
		while (times[i] < least)
			i++;
		t.step = times[i];
	} else {
		if (a->unit == CHART_TIME)
			t.step = times[TIMES - 1];
		while (t.step * 10 <= least)
			t.step *= 10;
		t.step *= least <= t.step ? 1 : least <= 2 * t.step ? 2 :
			  least <= 5 * t.step ? 5 : 10;
	}
	t.first = round_up(a->min / t.step) * t.step;
	while (t.count < TICKS_MAX &&
	       t.first + t.count * t.step <= a->max + t.step / 1000)
		t.count++;
	return t;
}

/* Writes V, a tick with the distance STEP, and returns BUF. */
static char *tick_text(enum chart_unit unit, double v, double step,
		       char buf[TICK_TEXT])
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };
	char text[SIZE_TEXT_MAX > TIMEFMT_ISO_MAX ? SIZE_TEXT_MAX :
						    TIMEFMT_ISO_MAX];
	int date, digits = step >= MINUTE ? 5 : 8;
	size_t i = 0;

	switch (unit) {
	case CHART_TIME:
		timefmt_iso(v < -9e18 ? INT64_MIN :
			    v > 9e18 ? INT64_MAX : (int64_t)v, text);
		date = (int)strcspn(text, "T");
		if (step >= DAY)
			snprintf(buf, TICK_TEXT, "%.*s", date, text);
		else
			snprintf(buf, TICK_TEXT, "%.*s", digits,
				 text + date + 1);
		return buf;
	case CHART_BYTES:
		snprintf(buf, TICK_TEXT, "%s",
			 v < 1 ? "0" : size_format(v < 1.8e19 ? (uint64_t)v :
						   UINT64_MAX, text));
		return buf;
	case CHART_PERCENT:
		snprintf(buf, TICK_TEXT, "%.4g %%", v);
		return buf;
	default:
		for (; i < 5 && (v >= 1000 || v <= -1000) && step >= 100; i++) {
			v /= 1000;
			step /= 1000;
		}
		snprintf(buf, TICK_TEXT, "%.6g%s", v, units[i]);
		return buf;
	}
}

/* Percent of the width, and pixels from the top. */
static double x_of(const struct frame *f, double v)
{
	return 100 * (v - f->x.min) / (f->x.max - f->x.min);
}

static double y_of(const struct frame *f, double v)
{
	return f->height - f->height * (v - f->y.min) / (f->y.max - f->y.min);
}

static struct svg_box box_of(const struct chart *c, bool page, unsigned int n)
{
	unsigned int columns = n < LEGEND_COLUMNS ? n : LEGEND_COLUMNS;

	return (struct svg_box){
		.left = LEFT, .right = RIGHT,
		.top = ABOVE + (page ? 0 : TITLE), .height = c->height,
		.bottom = BELOW + (n < 2 ? 0 : (n + columns - 1) / columns *
					       LEGEND_STEP),
	};
}

unsigned int chart_height(const struct chart *c, unsigned int n)
{
	struct svg_box box = box_of(c, false, n);

	return svg_height(&box);
}

/* Begins a panel with both axes; the legend has N series. */
static void put_frame(struct frame *f, struct svg *s, const struct chart *c,
		      unsigned int n)
{
	unsigned int room = s->page ? SVG_PAGE_WIDTH : s->width, i;
	char text[TICK_TEXT], date[TICK_TEXT], last[TICK_TEXT] = "";
	struct svg_box box = box_of(c, s->page, n);
	struct ticks t;
	bool two;

	*f = (struct frame){ .svg = s, .x = c->x, .y = c->y,
			     .height = c->height };
	if (!(f->x.max > f->x.min))
		f->x.max = f->x.min + 1;
	if (!(f->y.max > f->y.min))
		f->y.max = f->y.min + 1;
	t = ticks_of(&f->y, c->height / TICK_Y);
	f->y.max = round_up(f->y.max / t.step) * t.step;
	if (f->y.unit == CHART_PERCENT && f->y.max > 100)
		f->y.max = 100;
	t = ticks_of(&f->y, c->height / TICK_Y);
	svg_panel(s, c->title, &box);
	for (i = 0; i < t.count; i++) {
		double at = t.first + i * t.step, y = y_of(f, at);

		out_printf(s->out, "<line class=\"grid\" stroke=\"#d8dee4\" "
			   "x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>\n", y, y);
		svg_text(s, 0, -8, y + 4, SVG_END, "dim",
			 tick_text(f->y.unit, at, t.step, text));
	}
	svg_text(s, 0, 0, -10, SVG_START, "ink", f->y.label);
	/* Numbers are in one line.  The date is below the first time of a day. */
	t = ticks_of(&f->x, (room - LEFT - RIGHT) / TICK_X + 1);
	two = f->x.words || (f->x.unit == CHART_TIME && t.step < DAY);
	if (f->x.words)
		t = (struct ticks){ .step = 1, .count = f->x.nwords };
	for (i = 0; i < t.count; i++) {
		double at = t.first + i * t.step, x = x_of(f, at);

		out_printf(s->out, "<line class=\"axis\" stroke=\"#57606a\" "
			   "x1=\"%.6g%%\" x2=\"%.6g%%\" y1=\"%.0f\" "
			   "y2=\"%.0f\"/>\n", x, x, f->height, f->height + 5);
		/* Words alternate between two lines. */
		if (f->x.words) {
			svg_text(s, x, 0, f->height + (i & 1 ? 31 : 17),
				 SVG_MIDDLE, "dim", f->x.words[i]);
			continue;
		}
		svg_text(s, x, 0, f->height + 17, SVG_MIDDLE,
			 i & 1 ? "dim odd" : "dim",
			 tick_text(f->x.unit, at, t.step, text));
		if (two && strcmp(last, tick_text(CHART_TIME, at, DAY, date)))
			svg_text(s, x, 0, f->height + 31, SVG_MIDDLE, "dim",
				 strcpy(last, date));
	}
	out_printf(s->out, "<line class=\"axis\" stroke=\"#57606a\" "
		   "x2=\"100%%\" y1=\"%.0f\" y2=\"%.0f\"/>\n", f->height,
		   f->height);
	svg_text(s, 50, 0, f->height + (two ? 46 : 34), SVG_MIDDLE, "ink",
		 f->x.label);
}

/*
 * Puts the attributes of line I of N.  Each line is drawn over the previous ones and is
 * narrower, so that lines in the same place can be distinguished.
 */
static void put_stroke(struct out *out, unsigned int i, unsigned int n)
{
	static const char *const dashes[] = {
		"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 2\"",
		" stroke-dasharray=\"9 3 2 3\"",
	};
	double width = LINE + LINE_STEP * (n - 1 - i);

	if (LINE + LINE_STEP * (n - 1) > LINE_MAX)
		width = LINE_MAX - (LINE_MAX - LINE) * i / (n - 1);
	out_printf(out, "fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.3g\""
		   "%s", colours[i % COLOURS], width, dashes[i / COLOURS % 4]);
}

/* Puts the mark of series I; series with the same colour differ in shape. */
static void put_mark(struct out *out, unsigned int i)
{
	static const char *const shapes[] = {
		"<circle r=\"4\"", "<path d=\"M-4 -4h8v8h-8z\"",
		"<path d=\"M0 -5l5 9h-10z\"", "<path d=\"M0 -5l5 5l-5 5l-5 -5z\"",
	};

	out_printf(out, "%s fill=\"#%06x\"/>", shapes[i / COLOURS % 4],
		   colours[i % COLOURS]);
}

/*
 * Puts point P of series I: its mark if there are DOTS, its interval, and a tooltip.
 */
static void put_point(const struct frame *f, const struct chart_series *series,
		      const struct chart_point *p, unsigned int i, bool dots)
{
	char x[TICK_TEXT], y[TICK_TEXT];
	size_t word = p->x < 0 ? 0 : (size_t)(p->x + 0.5);
	double high = y_of(f, p->y + p->interval) - y_of(f, p->y);
	struct out *out = f->svg->out;

	svg_at(f->svg, x_of(f, p->x), y_of(f, p->y));
	out_string(out, "<title>");
	svg_string(out, series->name);
	out_printf(out, ": %s", tick_text(f->y.unit, p->y, 0, y));
	if (p->interval > 0)
		out_printf(out, " \xc2\xb1 %.3g", p->interval);
	out_string(out, " at ");
	svg_string(out, f->x.words && word < f->x.nwords ? f->x.words[word] :
		   tick_text(f->x.unit, p->x, (f->x.max - f->x.min) / 8, x));
	out_string(out, "</title>");
	if (p->interval > 0)
		out_printf(out, "<path class=\"interval\" fill=\"none\" "
			   "stroke=\"#%06x\" stroke-width=\"1.5\" "
			   "d=\"M-4 %.1fh8m-4 0v%.1fm-4 0h8\"/>",
			   colours[i % COLOURS], high, -2 * high);
	if (dots)
		put_mark(out, i);
	out_string(out, "</svg>\n");
}

void chart_lines(struct svg *s, const struct chart *c,
		 const struct chart_series *series, unsigned int n)
{
	unsigned int width = (s->page ? SVG_PAGE_WIDTH : s->width) - LEFT - RIGHT;
	double x;
	bool dots[CHART_SERIES_MAX];
	struct out *out = s->out;
	struct frame f;
	unsigned int i;
	size_t k;

	put_frame(&f, s, c, n);
	/* Lines are stretched to the width of the panel, but not their strokes. */
	out_printf(out, "<svg width=\"100%%\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		   "preserveAspectRatio=\"none\" overflow=\"visible\">\n",
		   c->height, width, c->height);
	for (i = 0; i < n; i++) {
		bool thin = series[i].count > POINTS * (size_t)width;
		int column = -1, last = -1;

		/* A single point has no line, so it needs a mark. */
		dots[i] = series[i].dots || series[i].count == 1;
		if (dots[i] || !series[i].count)
			continue;
		out_string(out, "<polyline ");
		put_stroke(out, i, n);
		out_string(out, " stroke-linejoin=\"round\" "
			   "vector-effect=\"non-scaling-stroke\" points=\"");
		for (k = 0; k < series[i].count; k++, last = column) {
			x = x_of(&f, series[i].points[k].x) * width / 100;
			column = (int)x;
			if (thin && k && k + 1 < series[i].count &&
			    column == last)
				continue;
			out_printf(out, "%s%.1f,%.1f", k ? " " : "", x,
				   y_of(&f, series[i].points[k].y));
		}
		out_string(out, "\"><title>");
		svg_string(out, series[i].name);
		out_string(out, "</title></polyline>\n");
	}
	out_string(out, "</svg>\n");
	for (i = 0; i < n; i++)
		for (k = 0; k < series[i].count; k++)
			if (dots[i] || series[i].points[k].interval > 0)
				put_point(&f, &series[i], &series[i].points[k],
					  i, dots[i]);
	for (i = 0; n > 1 && i < n; i++) {
		unsigned int columns = n < LEGEND_COLUMNS ? n : LEGEND_COLUMNS;
		double y = f.height + BELOW + 8 + i / columns * LEGEND_STEP;

		x = 100.0 * (i % columns) / columns;
		svg_at(s, x, y);
		if (dots[i]) {
			out_string(out, "<g transform=\"translate(12)\">");
			put_mark(out, i);
			out_string(out, "</g>");
		} else {
			out_string(out, "<path d=\"M0 0h24\" ");
			put_stroke(out, i, n);
			out_string(out, "/>");
		}
		out_string(out, "</svg>\n");
		svg_text(s, x, 32, y + 4, SVG_START, "ink", series[i].name);
	}
	svg_end(s);
}

void chart_bars(struct svg *s, const struct chart *c, const uint64_t *values,
		unsigned int n)
{
	double width = 100.0 / n, step = (c->x.max - c->x.min) / n;
	char from[TICK_TEXT], to[TICK_TEXT], text[TICK_TEXT];
	struct chart taller = *c;
	struct frame f;
	unsigned int i;

	taller.y.max *= 1.1;	/* room for the number on the highest one */
	put_frame(&f, s, &taller, 0);
	for (i = 0; i < n; i++) {
		double y = y_of(&f, (double)values[i]);

		out_printf(s->out, "<rect class=\"gap\" stroke=\"#ffffff\" "
			   "x=\"%.4g%%\" y=\"%.1f\" width=\"%.4g%%\" "
			   "height=\"%.1f\" fill=\"#%06x\"><title>%s to %s: "
			   "%llu</title></rect>\n", i * width, y, width,
			   f.height - y, SVG_BLUE,
			   tick_text(c->x.unit, c->x.min + i * step, 0, from),
			   tick_text(c->x.unit, c->x.min + (i + 1) * step, 0,
				     to), (unsigned long long)values[i]);
		if (values[i])
			svg_text(s, (i + 0.5) * width, 0, y - 4, SVG_MIDDLE,
				 "dim", tick_text(CHART_COUNT,
						  (double)values[i],
						  values[i] < 100000 ? 1 : 100,
						  text));
	}
	svg_end(s);
}

void chart_parts(struct svg *s, const char *title,
		 const struct chart_part *parts, unsigned int n)
{
	const struct svg_box box = { .height = PARTS_BAR + 16 + PARTS_STEP * n };
	double total = 0, x = 0, share;
	char look[64], text[SIZE_TEXT_MAX];
	unsigned int i, y;

	for (i = 0; i < n; i++)
		total += (double)parts[i].bytes;
	svg_panel(s, title, &box);
	for (i = 0; i < n; i++, x += share) {
		const char *class = parts[i].class;

		y = PARTS_BAR + 16 + PARTS_STEP * i;
		share = total > 0 ? 100 * (double)parts[i].bytes / total : 0;
		snprintf(look, sizeof(look), "fill=\"#%06x\"%s%s%s",
			 parts[i].colour, class ? " class=\"" : "",
			 class ? class : "", class ? "\"" : "");
		size_format(parts[i].bytes, text);
		out_printf(s->out,
			   "<rect x=\"%.6g%%\" width=\"%.6g%%\" height=\"%u\" "
			   "%s><title>%s: %s</title></rect>\n"
			   "<rect y=\"%u\" width=\"24\" height=\"12\" %s/>\n",
			   x, share, PARTS_BAR, look, parts[i].name, text, y,
			   look);
		svg_text(s, 0, 34, y + 10, SVG_START, "ink", parts[i].name);
		svg_text(s, 0, 320, y + 10, SVG_END, "ink", text);
		snprintf(text, sizeof(text), "%.1f %%", share);
		svg_text(s, 0, 380, y + 10, SVG_END, "dim odd", text);
	}
	svg_end(s);
}
