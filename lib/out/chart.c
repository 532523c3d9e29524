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

#define LEFT 64u		/* pixels: numbers of y */
#define RIGHT 32u		/* for half of a date */
#define ABOVE 24u		/* name of y */
#define HEIGHT 200u
#define BELOW 48u		/* numbers and name of x */
#define LINE_BELOW 14		/* and a second line of numbers */
#define WIDTH (SVG_WIDTH - LEFT - RIGHT)
#define ROOM 0.08		/* share of the height above all points */
#define TICKS_X 7		/* about */
#define TICKS_Y 5
#define TICKS_MAX 16
#define TICK_TEXT 96
#define POINTS 4		/* points per column that are all drawn */
#define PARTS_BAR 28u
#define PARTS_GAP 16u
#define LINE 1.5		/* pixels, of the last line */
#define LINE_STEP 1.5		/* additional width for each line below it */
#define LINE_MAX 6.0

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
		1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE,
		15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
		DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 60 * DAY, 91 * DAY, 182 * DAY,
		365 * DAY,
	};
	const size_t last = sizeof(times) / sizeof(times[0]) - 1;
	double range = a->max - a->min, least = range > 0 ? range / wanted : 1;
	bool fractions = a->unit == CHART_NUMBER || a->unit == CHART_PERCENT;
	struct ticks t = { .step = fractions ? 1e-6 : 1 };
	size_t i = 0;

	if (a->unit == CHART_BYTES || a->unit == CHART_TIME) {
		while (a->unit == CHART_TIME && i < last && times[i] < least)
			i++;
		t.step = a->unit == CHART_TIME ? times[i] : 1;
		while (t.step < least)
			t.step *= 2;
	} else {
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
		/* A count that is not scaled has all its digits. */
		snprintf(buf, TICK_TEXT, "%.*g%.1s", unit == CHART_COUNT && !i ? 15 : 6,
			 v, "\0kMGTP" + i);
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

/* Begins a panel with both axes, and sets their ends. */
static void put_frame(struct svg *s, struct chart *c)
{
	struct chart_axis *x = &c->x, *y = &c->y;
	char text[TICK_TEXT], date[TICK_TEXT], last[TICK_TEXT] = "";
	double at, put, low, high;
	struct ticks t, along;
	unsigned int i;
	bool two;
	size_t k;

	if (x->words) {
		x->min = -0.5;
		x->max = x->nwords - 0.5;
	} else if (!(x->max > x->min) && c->series->count) {
		x->min = x->max = c->series->points[0].x;
	}
	for (i = 0; i < c->n; i++)
		for (k = 0; k < c->series[i].count; k++) {
			const struct chart_point *p = &c->series[i].points[k];

			low = p->y > p->interval ? p->y - p->interval : 0;
			high = p->y + p->interval;
			x->min = x->min < p->x ? x->min : p->x;
			x->max = x->max > p->x ? x->max : p->x;
			y->min = y->min < low ? y->min : low;
			y->max = y->max > high ? y->max : high;
		}
	x->max = x->max > x->min ? x->max : x->min + 1;
	y->max = y->max > y->min ? y->max : y->min + 1;
	/* Space for a number above the highest point; then to the next tick. */
	y->max += ROOM * (y->max - y->min);
	t = ticks_of(y, TICKS_Y);
	y->min = -round_up(-y->min / t.step) * t.step;
	y->max = round_up(y->max / t.step) * t.step;
	t = ticks_of(y, TICKS_Y);
	/*
	 * Numbers of x are in one line; words alternate between two.  The date is
	 * below the first time of a day.
	 */
	along = ticks_of(x, TICKS_X);
	two = x->words || (x->unit == CHART_TIME && along.step < DAY);
	if (x->words)
		along = (struct ticks){ .step = 1, .count = x->nwords };
	svg_panel(s, c->title, (struct svg_box){
		.left = LEFT, .right = RIGHT, .top = ABOVE, .height = HEIGHT,
		.bottom = BELOW + (two ? LINE_BELOW : 0),
		.legend = c->n > 1 ? c->n : 0,
	});
	for (i = 0; i < t.count; i++) {
		at = t.first + i * t.step;
		put = y_of(c, at);
		svg_line(s, "grid", 0, put, 100, put);
		svg_text(s, 0, -8, put + 4, "end", "dim",
			 tick_text(y->unit, at, t.step, text));
	}
	svg_text(s, 0, 0, -10, "start", "ink", y->label);
	for (i = 0; i < along.count; i++) {
		at = along.first + i * along.step;
		put = x_of(c, at);
		svg_line(s, "axis", put, HEIGHT, put, HEIGHT + 5);
		svg_text(s, put, 0, HEIGHT + 17 + (x->words && i & 1 ? LINE_BELOW : 0),
			 "middle", !x->words && i & 1 ? "dim odd" : "dim",
			 x->words ? x->words[i] :
			 tick_text(x->unit, at, along.step, text));
		if (!two || x->words ||
		    !strcmp(last, tick_text(CHART_TIME, at, DAY, date)))
			continue;
		svg_text(s, put, 0, HEIGHT + 17 + LINE_BELOW, "middle", "dim", date);
		memcpy(last, date, sizeof(last));
	}
	svg_line(s, "axis", 0, HEIGHT, 100, HEIGHT);
	svg_text(s, 50, 0, HEIGHT + 34 + (two ? LINE_BELOW : 0), "middle", "ink",
		 x->label);
}

/*
 * Series differ by colour, then by dashes and marks.  A line is drawn over the previous
 * ones and is narrower, so that lines in the same place can be distinguished.
 */
#define COLOURS 5u

static const struct {
	const char *dash, *mark;
} rounds[] = {
	{ "none", "<circle r=\"4\" stroke=\"none\"/>" },
	{ "7 3", "<path d=\"M-4 -4h8v8h-8z\" stroke=\"none\"/>" },
	{ "2 2", "<path d=\"M0 -5l5 9h-10z\" stroke=\"none\"/>" },
	{ "9 3 2 3", "<path d=\"M0 -5l5 5l-5 5l-5 -5z\" stroke=\"none\"/>" },
};

void chart_lines(struct svg *s, const struct chart *chart)
{
	char text[TICK_TEXT], at[TICK_TEXT], spread[TICK_TEXT];
	struct out *out = s->out;
	struct chart c = *chart;
	double step, x, high;
	unsigned int i;
	size_t k, word;

	put_frame(s, &c);
	step = c.n < 4 ? LINE_STEP : (LINE_MAX - LINE) / (c.n - 1);
	for (i = 0; i < c.n; i++) {
		const struct chart_series *r = &c.series[i];
		const char *mark = rounds[i / COLOURS % 4].mark;
		uint32_t paint = svg_paints[i % COLOURS].light;
		bool dots = r->dots || r->count < 2;
		int column = -1, last = -1;

		out_printf(out, "<g fill=\"#%06x\" stroke=\"#%06x\" "
			   "stroke-width=\"%.3g\" stroke-dasharray=\"%s\">\n"
			   "<title>", paint, paint,
			   c.n < 2 ? 2 : LINE + step * (c.n - 1 - i),
			   rounds[i / COLOURS % 4].dash);
		svg_string(out, r->name);
		out_string(out, "</title>\n");
		/* A line is stretched to the width of the panel, but not its stroke. */
		if (!dots)
			out_printf(out, "<svg width=\"100%%\" height=\"%u\" "
				   "viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" "
				   "overflow=\"visible\"><polyline fill=\"none\" "
				   "stroke-linejoin=\"round\" "
				   "vector-effect=\"non-scaling-stroke\" points=\"",
				   HEIGHT, WIDTH, HEIGHT);
		for (k = 0; k < r->count && !dots; k++, last = column) {
			x = x_of(&c, r->points[k].x) * WIDTH / 100;
			column = (int)x;
			if (r->count > POINTS * (size_t)WIDTH && k &&
			    k + 1 < r->count && column == last)
				continue;
			out_printf(out, "%s%.1f,%.1f", k ? " " : "", x,
				   y_of(&c, r->points[k].y));
		}
		if (!dots)
			out_string(out, "\"/></svg>\n");
		/* A point has its mark or interval, and a tooltip. */
		for (k = 0; k < r->count; k++) {
			const struct chart_point *p = &r->points[k];

			high = p->interval * HEIGHT / (c.y.max - c.y.min);
			if (!dots && !(high > 0))
				continue;
			out_printf(out, "<svg x=\"%.6g%%\" y=\"%.1f\" "
				   "overflow=\"visible\"><title>",
				   x_of(&c, p->x), y_of(&c, p->y));
			svg_string(out, r->name);
			snprintf(spread, TICK_TEXT, high > 0 ? " \xc2\xb1 %.3g" : "",
				 p->interval);
			out_printf(out, ": %s%s at ",
				   tick_text(c.y.unit, p->y, 0, text), spread);
			word = p->x < 0 ? 0 : (size_t)(p->x + 0.5);
			svg_string(out, c.x.words && word < c.x.nwords ?
				   c.x.words[word] :
				   tick_text(c.x.unit, p->x,
					     (c.x.max - c.x.min) / 8, at));
			out_string(out, "</title>");
			if (high > 0)
				out_printf(out, "<path class=\"interval\" "
					   "fill=\"none\" stroke-width=\"1.5\" "
					   "stroke-dasharray=\"none\" "
					   "d=\"M-4 %.1fh8m-4 0v%.1fm-4 0h8\"/>",
					   -high, 2 * high);
			out_printf(out, "%s</svg>\n", dots ? mark : "");
		}
		if (c.n > 1) {
			svg_legend(s, i, r->name);
			if (dots)
				out_printf(out, "<g transform=\"translate(20 6)\">%s</g>"
					   "</svg>\n", mark);
			else
				out_string(out, "<path d=\"M0 6h40\"/></svg>\n");
		}
		out_string(out, "</g>\n");
	}
	out_string(out, "</svg>\n");
}

void chart_bars(struct svg *s, const struct chart *chart)
{
	const struct chart_series *r = chart->series;
	char from[TICK_TEXT], to[TICK_TEXT], text[TICK_TEXT], tip[4 * TICK_TEXT];
	double width = 100.0 / (double)r->count, step;
	struct chart c = *chart;
	size_t i;

	put_frame(s, &c);
	step = (c.x.max - c.x.min) / (double)r->count;
	for (i = 0; i < r->count; i++) {
		double v = r->points[i].y, y = y_of(&c, v), x = x_of(&c, r->points[i].x);

		snprintf(tip, sizeof(tip), "%s to %s: %.0f",
			 tick_text(c.x.unit, r->points[i].x, 0, from),
			 tick_text(c.x.unit, r->points[i].x + step, 0, to), v);
		svg_rect(s, "%", x + width / 40, y, width * 0.95, HEIGHT - y, SVG_BLUE,
			 SVG_SHADES, tip);
		if (v > 0)
			svg_text(s, x + width / 2, 0, y - 4, "middle", "dim",
				 tick_text(c.y.unit, v, v < 1e5 ? 1 : 100, text));
	}
	out_string(s->out, "</svg>\n");
}

void chart_parts(struct svg *s, const char *title,
		 const struct chart_part *parts, unsigned int n)
{
	char size[SIZE_TEXT_MAX], text[4 * TICK_TEXT];
	double total = 0, x = 0, share;
	unsigned int i;

	for (i = 0; i < n; i++)
		total += (double)parts[i].bytes;
	svg_panel(s, title, (struct svg_box){
		.height = PARTS_BAR, .bottom = PARTS_GAP, .legend = n,
	});
	for (i = 0; i < n; i++, x += share) {
		share = total > 0 ? 100 * (double)parts[i].bytes / total : 0;
		snprintf(text, sizeof(text), "%s: %s, %.1f %%", parts[i].name,
			 size_format(parts[i].bytes, size), share);
		svg_rect(s, "%", x, 0, share, PARTS_BAR, parts[i].colour,
			 SVG_SHADES, text);
		svg_legend(s, i, text);
		svg_rect(s, "", 0, 0, SVG_SAMPLE, 12, parts[i].colour, SVG_SHADES,
			 NULL);
		out_string(s->out, "</svg>\n");
	}
	out_string(s->out, "</svg>\n");
}
