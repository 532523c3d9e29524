// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Plots with axes.
 *
 * The frame (title, grid, ticks, names of both axes) is put first; it determines the
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
#define HEIGHT 200u
#define BELOW 52u		/* numbers and name of x */
#define WIDTH (SVG_WIDTH - LEFT - RIGHT)
#define TICKS_X 7		/* about */
#define TICKS_Y 5
#define TICKS_MAX 16
#define TICK_TEXT 96
#define LEGEND_COLUMNS 4u	/* in a narrow window 2 */
#define POINTS 4		/* points per column that are all drawn */
#define PARTS_BAR 28u
#define PARTS_GAP 16u
#define COLOURS 5u		/* further series differ by dashes and shapes */
#define LINE 2.0		/* pixels, of the last line */
#define LINE_STEP 2.0		/* additional width for each line below it */
#define LINE_MAX 8.0

#define MINUTE 60.0
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

struct ticks {
	double first, step;
	unsigned int count;
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
	char text[SIZE_TEXT_MAX > TIMEFMT_ISO_MAX ? SIZE_TEXT_MAX : TIMEFMT_ISO_MAX];
	size_t i = 0;
	int date;

	if (unit == CHART_TIME) {
		timefmt_iso(v < -9e18 ? INT64_MIN :
			    v > 9e18 ? INT64_MAX : (int64_t)v, text);
		date = (int)strcspn(text, "T");
		if (step >= DAY)
			snprintf(buf, TICK_TEXT, "%.*s", date, text);
		else
			snprintf(buf, TICK_TEXT, "%.*s", step >= MINUTE ? 5 : 8,
				 text + date + 1);
	} else if (unit == CHART_BYTES) {
		snprintf(buf, TICK_TEXT, "%s", v < 1 ? "0" :
			 size_format(v < 1.8e19 ? (uint64_t)v : UINT64_MAX, text));
	} else if (unit == CHART_PERCENT) {
		snprintf(buf, TICK_TEXT, "%.4g %%", v);
	} else {
		for (; i < 5 && (v >= 1000 || v <= -1000) && step >= 100; i++) {
			v /= 1000;
			step /= 1000;
		}
		snprintf(buf, TICK_TEXT, "%.6g%.1s", v, "\0kMGTP" + i);
	}
	return buf;
}

/* Percent of the width, and pixels from the top. */
static double x_of(const struct chart *c, double v)
{
	return 100 * (v - c->x.min) / (c->x.max - c->x.min);
}

static double y_of(const struct chart *c, double v)
{
	return HEIGHT - HEIGHT * (v - c->y.min) / (c->y.max - c->y.min);
}

/* Begins a panel with both axes, and sets their ends; the legend has LINES lines. */
static void put_frame(struct svg *s, struct chart *c, unsigned int lines)
{
	const struct svg_box box = {
		.left = LEFT, .right = RIGHT, .top = ABOVE, .height = HEIGHT,
		.bottom = BELOW + SVG_LEGEND_STEP * lines,
	};
	char text[TICK_TEXT], date[TICK_TEXT], last[TICK_TEXT] = "";
	struct ticks t;
	unsigned int i;
	bool two;

	if (!(c->x.max > c->x.min))
		c->x.max = c->x.min + 1;
	if (!(c->y.max > c->y.min))
		c->y.max = c->y.min + 1;
	t = ticks_of(&c->y, TICKS_Y);
	c->y.max = round_up(c->y.max / t.step) * t.step;
	if (c->y.unit == CHART_PERCENT && c->y.max > 100)
		c->y.max = 100;
	t = ticks_of(&c->y, TICKS_Y);
	svg_panel(s, c->title, &box);
	for (i = 0; i < t.count; i++) {
		double at = t.first + i * t.step, y = y_of(c, at);

		svg_line(s, "grid", 0, y, 100, y);
		svg_text(s, 0, -8, y + 4, SVG_END, "dim",
			 tick_text(c->y.unit, at, t.step, text));
	}
	svg_text(s, 0, 0, -10, SVG_START, "ink", c->y.label);
	/*
	 * Numbers are in one line; words alternate between two.  The date is below
	 * the first time of a day.
	 */
	t = ticks_of(&c->x, TICKS_X);
	two = c->x.words || (c->x.unit == CHART_TIME && t.step < DAY);
	if (c->x.words)
		t = (struct ticks){ .step = 1, .count = c->x.nwords };
	for (i = 0; i < t.count; i++) {
		double at = t.first + i * t.step, x = x_of(c, at);
		const char *name = c->x.words ? c->x.words[i] :
				   tick_text(c->x.unit, at, t.step, text);

		svg_line(s, "axis", x, HEIGHT, x, HEIGHT + 5);
		svg_text(s, x, 0, HEIGHT + (c->x.words && i & 1 ? 31 : 17),
			 SVG_MIDDLE, !c->x.words && i & 1 ? "dim odd" : "dim", name);
		if (two && !c->x.words &&
		    strcmp(last, tick_text(CHART_TIME, at, DAY, date)))
			svg_text(s, x, 0, HEIGHT + 31, SVG_MIDDLE, "dim",
				 strcpy(last, date));
	}
	svg_line(s, "axis", 0, HEIGHT, 100, HEIGHT);
	svg_text(s, 50, 0, HEIGHT + (two ? 46 : 34), SVG_MIDDLE, "ink", c->x.label);
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
	out_printf(out, "fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.3g\"%s",
		   svg_paints[i % COLOURS].light, width, dashes[i / COLOURS % 4]);
}

/* Puts the mark of series I; series with the same colour differ in shape. */
static void put_mark(struct out *out, unsigned int i)
{
	static const char *const shapes[] = {
		"<circle r=\"4\"", "<path d=\"M-4 -4h8v8h-8z\"",
		"<path d=\"M0 -5l5 9h-10z\"", "<path d=\"M0 -5l5 5l-5 5l-5 -5z\"",
	};

	out_printf(out, "%s fill=\"#%06x\"/>", shapes[i / COLOURS % 4],
		   svg_paints[i % COLOURS].light);
}

void chart_lines(struct svg *s, const struct chart *chart,
		 const struct chart_series *series, unsigned int n)
{
	unsigned int most = s->page ? LEGEND_COLUMNS / 2 : LEGEND_COLUMNS, i;
	unsigned int columns = n < most ? n : most;
	bool dots[CHART_SERIES_MAX];
	char text[TICK_TEXT];
	struct chart c = *chart;
	struct out *out = s->out;
	size_t k;

	put_frame(s, &c, n < 2 ? 0 : (n + columns - 1) / columns);
	/* Lines are stretched to the width of the panel, but not their strokes. */
	out_printf(out, "<svg width=\"100%%\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		   "preserveAspectRatio=\"none\" overflow=\"visible\">\n",
		   HEIGHT, WIDTH, HEIGHT);
	for (i = 0; i < n; i++) {
		bool thin = series[i].count > POINTS * (size_t)WIDTH;
		int column = -1, last = -1;
		double x;

		/* A single point has no line, so it needs a mark. */
		dots[i] = series[i].dots || series[i].count == 1;
		if (dots[i] || !series[i].count)
			continue;
		out_string(out, "<polyline ");
		put_stroke(out, i, n);
		out_string(out, " stroke-linejoin=\"round\" "
			   "vector-effect=\"non-scaling-stroke\" points=\"");
		for (k = 0; k < series[i].count; k++, last = column) {
			x = x_of(&c, series[i].points[k].x) * WIDTH / 100;
			column = (int)x;
			if (thin && k && k + 1 < series[i].count &&
			    column == last)
				continue;
			out_printf(out, "%s%.1f,%.1f", k ? " " : "", x,
				   y_of(&c, series[i].points[k].y));
		}
		out_string(out, "\"><title>");
		svg_string(out, series[i].name);
		out_string(out, "</title></polyline>\n");
	}
	out_string(out, "</svg>\n");
	/* A point has its mark if there are dots, its interval, and a tooltip. */
	for (i = 0; i < n; i++)
		for (k = 0; k < series[i].count; k++) {
			const struct chart_point *p = &series[i].points[k];
			size_t word = p->x < 0 ? 0 : (size_t)(p->x + 0.5);
			double y = y_of(&c, p->y);
			double high = y_of(&c, p->y + p->interval) - y;

			if (!dots[i] && !(p->interval > 0))
				continue;
			out_printf(out, "<svg x=\"%.6g%%\" y=\"%.1f\" "
				   "overflow=\"visible\"><title>", x_of(&c, p->x), y);
			svg_string(out, series[i].name);
			out_printf(out, ": %s", tick_text(c.y.unit, p->y, 0, text));
			if (p->interval > 0)
				out_printf(out, " \xc2\xb1 %.3g", p->interval);
			out_string(out, " at ");
			svg_string(out, c.x.words && word < c.x.nwords ?
				   c.x.words[word] :
				   tick_text(c.x.unit, p->x,
					     (c.x.max - c.x.min) / 8, text));
			out_string(out, "</title>");
			if (p->interval > 0)
				out_printf(out, "<path class=\"interval\" "
					   "fill=\"none\" stroke=\"#%06x\" "
					   "stroke-width=\"1.5\" "
					   "d=\"M-4 %.1fh8m-4 0v%.1fm-4 0h8\"/>",
					   svg_paints[i % COLOURS].light, high,
					   -2 * high);
			if (dots[i])
				put_mark(out, i);
			out_string(out, "</svg>\n");
		}
	for (i = 0; n > 1 && i < n; i++) {
		svg_legend(s, HEIGHT + BELOW + 2, i, columns, series[i].name);
		if (dots[i]) {
			out_string(out, "<g transform=\"translate(20 6)\">");
			put_mark(out, i);
			out_string(out, "</g>");
		} else {
			out_printf(out, "<path d=\"M0 6h%u\" ", SVG_SAMPLE);
			put_stroke(out, i, n);
			out_string(out, "/>");
		}
		out_string(out, "</svg>\n");
	}
	out_string(out, "</svg>\n");
}

void chart_bars(struct svg *s, const struct chart *chart, const uint64_t *values,
		unsigned int n)
{
	double width = 100.0 / n, step = (chart->x.max - chart->x.min) / n;
	char from[TICK_TEXT], to[TICK_TEXT], text[TICK_TEXT];
	struct chart c = *chart;
	unsigned int i;

	/* The highest bar leaves room for its number. */
	for (i = 0; i < n; i++)
		if (1.1 * (double)values[i] > c.y.max)
			c.y.max = 1.1 * (double)values[i];
	put_frame(s, &c, 0);
	for (i = 0; i < n; i++) {
		double y = y_of(&c, (double)values[i]);

		svg_rect(s, "%", i * width, y, width, HEIGHT - y, SVG_BLUE, SVG_SHADES);
		out_printf(s->out, " stroke=\"#ffffff\" class=\"gap\"><title>%s to "
			   "%s: %llu</title></rect>\n",
			   tick_text(c.x.unit, c.x.min + i * step, 0, from),
			   tick_text(c.x.unit, c.x.min + (i + 1) * step, 0, to),
			   (unsigned long long)values[i]);
		if (values[i])
			svg_text(s, (i + 0.5) * width, 0, y - 4, SVG_MIDDLE, "dim",
				 tick_text(CHART_COUNT, (double)values[i],
					   values[i] < 100000 ? 1 : 100, text));
	}
	out_string(s->out, "</svg>\n");
}

void chart_parts(struct svg *s, const char *title,
		 const struct chart_part *parts, unsigned int n)
{
	const struct svg_box box = {
		.height = PARTS_BAR + PARTS_GAP + SVG_LEGEND_STEP * n,
	};
	double total = 0, x = 0, share;
	char text[SIZE_TEXT_MAX];
	unsigned int i;

	for (i = 0; i < n; i++)
		total += (double)parts[i].bytes;
	svg_panel(s, title, &box);
	for (i = 0; i < n; i++, x += share) {
		share = total > 0 ? 100 * (double)parts[i].bytes / total : 0;
		size_format(parts[i].bytes, text);
		svg_rect(s, "%", x, 0, share, PARTS_BAR, parts[i].colour,
			 SVG_SHADES);
		out_printf(s->out, "><title>%s: %s</title></rect>\n", parts[i].name,
			   text);
		svg_legend(s, PARTS_BAR + PARTS_GAP, i, 1, parts[i].name);
		svg_rect(s, "", 0, 0, SVG_SAMPLE, 12, parts[i].colour, SVG_SHADES);
		out_string(s->out, "/>");
		svg_text(s, 0, 334, 10, SVG_END, "ink", text);
		snprintf(text, sizeof(text), "%.1f %%", share);
		svg_text(s, 0, 394, 10, SVG_END, "dim odd", text);
		out_string(s->out, "</svg>\n");
	}
	out_string(s->out, "</svg>\n");
}
