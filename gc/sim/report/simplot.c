// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plots of a sweep.
 *
 * The runs are numbered as simplan.h says: what changes more slowly than the
 * axis along x, and what changes faster, but for policies and seeds, together
 * number the plots.
 */
#include "gc/sim/report/simplot.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cli/outfile.h"
#include "out/chart.h"
#include "out/svg.h"

#define WIDTH 880u	/* pixels */
#define HEIGHT 340u	/* of a plot, and the room below it */
#define GAP 24u
#define TEXT 256u
#define SPREAD 0.7	/* of the room of a word, that its marks take */

/* What is along x, and how runs are found by it. */
struct simplot {
	const struct simplan *plan;
	const struct simrow *rows;
	const struct simaxis *axis;	/* NULL: policies */
	const struct cli_option *row;
	bool words;
	size_t axis_number;
	size_t faster;		/* combinations of what changes faster */
	double *xs;		/* of the items */
	double *numbers;	/* room for the runs of a point */
	struct chart chart;
};

/* An item of an axis as a number. */
static bool number_of(const struct cli_option *row, const char *item,
		      double *x)
{
	struct context cx;
	uint64_t bytes = 0;
	char *end;

	if (row->kind == OPTION_SIZE) {
		context_init(&cx);
		if (option_size(&cx, "", item, &bytes))
			return false;
		*x = (double)bytes;
		return true;
	}
	if (row->kind != OPTION_U64 && row->kind != OPTION_U32 &&
	    row->kind != OPTION_STRING)
		return false;
	*x = strtod(item, &end);
	return end != item && !*end && isfinite(*x);
}

static bool is_numeric(const struct simplan *p, size_t axis)
{
	double x;
	size_t i;

	for (i = 0; i < p->axes[axis].count; i++)
		if (!number_of(p->rows[axis], p->axes[axis].items[i], &x))
			return false;
	return true;
}

/* The axis along x. */
static void choose_axis(struct simplot *s)
{
	const struct simplan *p = s->plan;
	size_t k = 0;

	s->words = true;
	s->faster = p->nvolumes;
	if (!p->naxes)
		return;
	while (k < p->naxes && !is_numeric(p, k))
		k++;
	s->words = k == p->naxes;
	s->axis_number = s->words ? 0 : k;
	s->axis = &p->axes[s->axis_number];
	s->row = p->rows[s->axis_number];
	for (k = s->axis_number + 1; k < p->naxes; k++)
		s->faster *= p->axes[k].count;
}

static size_t items_of(const struct simplot *s)
{
	return s->axis ? s->axis->count : s->plan->npolicies;
}

/* Series of one plot: policies, some of them where there are many. */
static size_t series_of(const struct simplot *s)
{
	return s->axis ? s->plan->npolicies : 1;
}

size_t simplot_count(const struct simplan *plan)
{
	struct simplot s = { .plan = plan };
	size_t n = plan->nvolumes, k, parts;

	choose_axis(&s);
	for (k = 0; k < plan->naxes; k++)
		n *= k == s.axis_number ? 1 : plan->axes[k].count;
	parts = (series_of(&s) + CHART_SERIES_MAX - 1) / CHART_SERIES_MAX;
	return n * parts;
}

/* The first run of combination OTHER, item X and POLICY. */
static size_t run_of(const struct simplot *s, size_t other, size_t x,
		     size_t policy)
{
	const struct simplan *p = s->plan;
	size_t slow = other / s->faster, fast = other % s->faster;
	size_t i = s->axis ? (slow * s->axis->count + x) * s->faster + fast :
			     other;

	return (i * p->npolicies + (s->axis ? policy : x)) * p->nseeds;
}

static bool stat_of(const struct simplot *s, size_t run, struct simstat *stat)
{
	*stat = simrow_stat(&s->rows[run], s->plan->nseeds, s->numbers);
	return stat->n != 0;
}

static int compare_points(const void *a, const void *b)
{
	const struct chart_point *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

/* The points of a series; of words, the marks of policies are side by side. */
static size_t take_points(const struct simplot *s, size_t other, size_t policy,
			  struct chart_point *points)
{
	size_t i, n = 0, of = series_of(s);
	double shift = s->words ? SPREAD * (((double)policy + 0.5) /
					    (double)of - 0.5) : 0;
	struct simstat stat;

	for (i = 0; i < items_of(s); i++) {
		if (!stat_of(s, run_of(s, other, i, policy), &stat))
			continue;
		points[n++] = (struct chart_point){
			s->xs[i] + shift, stat.mean, stat.interval,
		};
	}
	sort_in_place(points, n, sizeof(*points), compare_points);
	return n;
}

/* What a plot is of: "placement dac, skew 1", or the only one. */
static void title_of(const struct simplot *s, struct context *cx, size_t other,
		     char title[TEXT])
{
	struct simplan_run run;
	size_t k, used = 0, i = run_of(s, other, 0, 0), left;
	const struct simplan *p = s->plan;

	snprintf(title, TEXT, "Write amplification");
	left = i / p->nseeds / p->npolicies / p->nvolumes;
	for (k = p->naxes; k-- && used < TEXT;) {
		const struct simaxis *a = &p->axes[k];

		if (a != s->axis)
			used += (size_t)snprintf(title + used, TEXT - used,
						 "%s%s %s", used ? ", " : "",
						 a->name,
						 a->items[left % a->count]);
		left /= a->count;
	}
	if (p->nvolumes > 1 && used < TEXT && !simplan_run(p, cx, i, &run))
		snprintf(title + used, TEXT - used, "%svolume %s",
			 used ? ", " : "", run.volume_name);
}

/* Number PART of combination OTHER: so many policies. */
static int put_plot(const struct simplot *s, struct out *out,
		    struct context *cx, size_t other, size_t part,
		    unsigned int top)
{
	size_t first = part * CHART_SERIES_MAX, n = series_of(s) - first, i;
	struct chart_series series[CHART_SERIES_MAX];
	struct chart chart = s->chart;
	struct chart_point *points;
	char title[TEXT];

	n = n < CHART_SERIES_MAX ? n : CHART_SERIES_MAX;
	points = calloc(n * items_of(s), sizeof(*points));
	if (!points)
		return fail(cx, -ENOMEM, "plots");
	for (i = 0; i < n; i++) {
		struct chart_point *at = points + i * items_of(s);

		series[i] = (struct chart_series){
			.name = s->axis ? s->plan->policies[first + i].name :
					  "write amplification",
			.points = at,
			.count = take_points(s, other, first + i, at),
			.dots = s->words,
		};
	}
	title_of(s, cx, other, title);
	chart.title = title;
	chart.top = top;
	chart_lines(out, &chart, series, (unsigned int)n);
	free(points);
	return 0;
}

/* Both scales, for all points of all plots. */
static void set_scales(struct simplot *s)
{
	struct chart *c = &s->chart;
	size_t i, n = items_of(s);
	struct simstat stat;

	c->y.min = 1;
	for (i = 0; i < s->plan->nruns; i += s->plan->nseeds) {
		if (!stat_of(s, i, &stat))
			continue;
		c->y.max = fmax(c->y.max, stat.mean + stat.interval);
		c->y.min = fmin(c->y.min, stat.mean - stat.interval);
	}
	c->y.min = fmax(c->y.min, 0);
	c->x.min = s->words ? -0.5 : s->xs[0];
	c->x.max = s->words ? (double)n - 0.5 : s->xs[0];
	for (i = 0; i < n && !s->words; i++) {
		c->x.min = fmin(c->x.min, s->xs[i]);
		c->x.max = fmax(c->x.max, s->xs[i]);
	}
}

/* "fill (percent)" */
static void label_x(const struct simplot *s, char label[TEXT])
{
	size_t i;

	if (!s->axis) {
		snprintf(label, TEXT, "policy");
		return;
	}
	snprintf(label, TEXT, s->row->arg ? "%s (%s)" : "%s", s->axis->name,
		 s->row->arg);
	for (i = 0; label[i]; i++)
		label[i] = (char)tolower((unsigned char)label[i]);
}

static void set_axes(struct simplot *s, char label[TEXT])
{
	size_t i;

	label_x(s, label);
	s->chart = (struct chart){
		.x = { .label = label },
		.y = { .label = "blocks written per block of the user" },
		.left = SVG_MARGIN, .width = WIDTH, .height = HEIGHT,
	};
	if (s->row && s->row->kind == OPTION_SIZE)
		s->chart.x.unit = CHART_BYTES;
	for (i = 0; i < items_of(s); i++)
		if (s->words)
			s->xs[i] = (double)i;
		else
			number_of(s->row, s->axis->items[i], &s->xs[i]);
	if (s->words) {
		s->chart.x.words = s->axis ?
			(const char *const *)s->axis->items :
			(const char *const *)s->plan->names.items;
		s->chart.x.nwords = (unsigned int)items_of(s);
	}
	set_scales(s);
}

static int put_all(struct simplot *s, struct out *out, struct context *cx)
{
	size_t n = simplot_count(s->plan), parts, i;
	char label[TEXT], subtitle[TEXT] = "one run each";
	int err = 0;

	set_axes(s, label);
	if (s->plan->nseeds > 1)
		snprintf(subtitle, TEXT, "mean of %zu runs each; bars are the "
			 "intervals of 95 %% confidence", s->plan->nseeds);
	svg_begin(out, WIDTH + 2 * SVG_MARGIN,
		  SVG_HEAD + (unsigned int)n * (HEIGHT + GAP),
		  "Simulated cleaning", subtitle);
	parts = (series_of(s) + CHART_SERIES_MAX - 1) / CHART_SERIES_MAX;
	for (i = 0; i < n && !err; i++)
		err = put_plot(s, out, cx, i / parts, i % parts,
			       SVG_HEAD + (unsigned int)i * (HEIGHT + GAP));
	svg_end(out);
	return err;
}

int simplot_write(struct context *cx, const char *path, const char *input,
		  const struct simplan *plan, const struct simrow *rows)
{
	struct simplot s = { .plan = plan, .rows = rows };
	struct outfile file;
	int err = 0;

	choose_axis(&s);
	s.xs = calloc(items_of(&s), sizeof(*s.xs));
	s.numbers = calloc(plan->nseeds, sizeof(*s.numbers));
	if (!s.xs || !s.numbers)
		err = fail(cx, -ENOMEM, "plots");
	if (!err)
		err = outfile_open(&file, cx, path, input);
	if (!err)
		err = outfile_close(&file, cx, put_all(&s, file.out, cx));
	free(s.xs);
	free(s.numbers);
	return err;
}
