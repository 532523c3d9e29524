// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures.
 *
 * Of runs all curves of a kind share a plot, as comparing policies is what a simulation
 * is for.  Write amplification is that of the time between two samples; a mean
 * since the beginning would hide how it changes.
 *
 * The runs of a sweep are numbered as simplan.h says: what changes more slowly than the
 * axis along x, and what changes faster, but for policies and seeds, together
 * number the plots.
 */
#include "gc/sim/report/simsvg.h"

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

#define COLUMNS 96u
#define LINES 48u
#define CELL 8u
#define PLOT 260u		/* pixels high */
#define MAP_TITLE 26u
#define WIDTH (COLUMNS * CELL + 64u)	/* numbers of the map's lines */
#define WINDOW 16		/* samples that a point is the mean of */
#define WAF_MAX 100.0		/* more is cut off */

static const struct picture_kind kinds[] = {
	[SIMVOL_CLEAN] = { "clean", ".", SVG_NONE, false, true,
			   SVG_NONE_DARK, "none" },
	[SIMVOL_OPEN] = { "being written", "o", SVG_INK, true, true, SVG_INK_DARK,
			    "ink" },
	[SIMVOL_FULL] = { "in use, by what is needed", ".:x#", SVG_BLUE, false,
			  false },
	[SIMVOL_VICTIM] = { "being cleaned", "v", SVG_ORANGE, true, true },
	[SIMVOL_HELD] = { "not to be cleaned", "h", SVG_GRAY, false, true },
};

static int take_map(struct simsvg_run *s, struct context *cx,
		    const struct simvol *v)
{
	uint32_t i, lines = (v->config.nsegments + COLUMNS - 1) / COLUMNS;
	int ret = picture_open(cx, kinds, sizeof(kinds) / sizeof(kinds[0]),
			       v->config.nsegments, COLUMNS,
			       lines < LINES ? lines : LINES, &s->map);

	for (i = 0; !ret && i < v->config.nsegments; i++)
		picture_add(s->map, i, v->state[i],
			    (double)v->needed[i] / v->config.blocks);
	return ret;
}

int simsvg_take(struct simsvg_run *s, struct context *cx, struct simrun *run,
		const char *policy)
{
	*s = (struct simsvg_run){
		.policy = policy,
		.samples = run->samples,
		.nsamples = run->nsamples,
		.nsegments = run->vol->config.nsegments,
		.blocks = run->vol->config.blocks,
	};
	run->samples = NULL;
	run->nsamples = run->room = 0;
	return take_map(s, cx, run->vol);
}

void simsvg_free(struct simsvg_run *s)
{
	free(s->samples);
	picture_close(s->map);
}

static double clean_at(const struct simsvg_run *s, size_t i)
{
	return 100.0 * s->samples[i].clean / s->nsegments;
}

/* Blocks written per block of the user, in the samples up to I. */
static double amplification_at(const struct simsvg_run *s, size_t i)
{
	const struct simrun_sample *to = &s->samples[i];
	static const struct simrun_sample zero;
	const struct simrun_sample *from = i < WINDOW ? &zero : to - WINDOW;
	uint64_t user = to->user - from->user;
	double waf = user ? (double)(to->written - from->written) /
				    (double)user : 1;

	return waf < WAF_MAX ? waf : WAF_MAX;
}

/* One of the curves, for all runs. */
struct plot {
	struct chart chart;
	double (*value)(const struct simsvg_run *s, size_t i);
};

static int put_plot(struct out *out, struct context *cx, struct plot *plot,
		    const struct simsvg_run *runs, size_t n)
{
	struct chart_series series[CHART_SERIES_MAX];
	struct chart_point *points;
	size_t total = 0, at = 0, r, i;

	n = n < CHART_SERIES_MAX ? n : CHART_SERIES_MAX;
	for (r = 0; r < n; r++)
		total += runs[r].nsamples;
	points = calloc(total + 1, sizeof(*points));
	if (!points)
		return fail(cx, -ENOMEM, "curves");
	for (r = 0; r < n; r++) {
		series[r] = (struct chart_series){
			.name = runs[r].policy,
			.points = points + at,
			.count = runs[r].nsamples,
		};
		for (i = 0; i < runs[r].nsamples; i++, at++) {
			double x = (double)runs[r].samples[i].user;
			double y = plot->value(&runs[r], i);

			points[at] = (struct chart_point){ x, y };
			if (x > plot->chart.x.max)
				plot->chart.x.max = x;
			if (y > plot->chart.y.max)
				plot->chart.y.max = y;
		}
	}
	chart_lines(out, &plot->chart, series, (unsigned int)n);
	free(points);
	return 0;
}

static int put_plots(struct out *out, struct context *cx,
		     const struct simsvg_run *runs, size_t n)
{
	struct plot clean = {
		.chart = {
			.title = "Clean segments",
			.x = { "blocks written by the user", CHART_COUNT },
			.y = { "share of all segments", CHART_PERCENT },
			.left = SVG_MARGIN, .top = SVG_HEAD,
			.width = WIDTH, .height = PLOT,
		},
		.value = clean_at,
	};
	struct plot waf = {
		.chart = {
			.title = "Write amplification",
			.x = { "blocks written by the user", CHART_COUNT },
			.y = { "blocks written per block of the user",
			       CHART_COUNT },
			.left = SVG_MARGIN, .top = SVG_HEAD + PLOT + 20,
			.width = WIDTH, .height = PLOT,
		},
		.value = amplification_at,
	};
	int ret = put_plot(out, cx, &clean, runs, n);

	return ret ? ret : put_plot(out, cx, &waf, runs, n);
}

/* The segments of each run, below TOP; returns where they end. */
static unsigned int put_maps(struct out *out, const struct simsvg_run *runs,
			     size_t n, unsigned int top)
{
	const struct picture_labels labels = { "segment", 0, "needed" };
	unsigned int width, height;
	size_t i;

	for (i = 0; i < n; i++) {
		char title[128];

		snprintf(title, sizeof(title), "Segments at the end: %s",
			 runs[i].policy);
		picture_svg_size(runs[i].map, CELL, &width, &height);
		if (out) {
			svg_text(out, SVG_MARGIN, top + 14, SVG_START, "ink",
				 title);
			picture_svg(runs[i].map, out, CELL, &labels,
				    SVG_MARGIN, top + MAP_TITLE);
		}
		top += MAP_TITLE + height + SVG_MARGIN;
	}
	return top;
}

static int put_all(struct out *out, struct context *cx,
		   const struct simsvg_run *runs, size_t n)
{
	unsigned int top = SVG_HEAD + 2 * PLOT + 40;
	char subtitle[128];
	int ret;

	snprintf(subtitle, sizeof(subtitle), "%u segments of %u blocks",
		 runs->nsegments, runs->blocks);
	svg_begin(out, WIDTH + 2 * SVG_MARGIN,
		  put_maps(NULL, runs, n, top),
		  n > 1 ? "Simulated cleaning by policy" :
			  "Simulated cleaning", subtitle);
	ret = put_plots(out, cx, runs, n);
	put_maps(out, runs, n, top);
	svg_end(out);
	return ret;
}

int simsvg_write(struct context *cx, const char *path,
		 const struct output_how *how, const struct simsvg_run *runs,
		 size_t n)
{
	struct outfile file;
	int ret = outfile_open(&file, cx, path, how);

	if (ret)
		return ret;
	ret = put_all(file.out, cx, runs, n);
	return outfile_close(&file, cx, ret);
}

/*
 * The picture of a sweep.
 */

#define PLOT_WIDTH 880u	/* pixels */
#define PLOT_HEIGHT 340u	/* of a plot, and the room below it */
#define GAP 24u
#define TEXT 256u
#define SPREAD 0.7	/* of the room of a word, that its marks take */

/* What is along x, and how runs are found by it. */
struct sweep {
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

/* The first axis of several values, with NUMERIC of numbers; or naxes. */
static size_t find_axis(const struct simplan *p, bool numeric)
{
	size_t k = 0;

	while (k < p->naxes && (p->axes[k].count < 2 ||
				(numeric && !is_numeric(p, k))))
		k++;
	return k;
}

/* The axis along x; one value is a word. */
static void choose_axis(struct sweep *s)
{
	const struct simplan *p = s->plan;
	size_t k = find_axis(p, true);

	s->words = k == p->naxes;
	s->faster = p->nvolumes;
	if (!p->naxes)
		return;
	if (s->words)
		k = find_axis(p, false);
	s->axis_number = k < p->naxes ? k : 0;
	s->axis = &p->axes[s->axis_number];
	s->row = p->rows[s->axis_number];
	for (k = s->axis_number + 1; k < p->naxes; k++)
		s->faster *= p->axes[k].count;
}

static size_t items_of(const struct sweep *s)
{
	return s->axis ? s->axis->count : s->plan->npolicies;
}

/* Series of one plot: policies, some of them where there are many. */
static size_t series_of(const struct sweep *s)
{
	return s->axis ? s->plan->npolicies : 1;
}

size_t simsvg_count_plots(const struct simplan *plan)
{
	struct sweep s = { .plan = plan };
	size_t n = plan->nvolumes, k, parts;

	choose_axis(&s);
	for (k = 0; k < plan->naxes; k++)
		n *= k == s.axis_number ? 1 : plan->axes[k].count;
	parts = (series_of(&s) + CHART_SERIES_MAX - 1) / CHART_SERIES_MAX;
	return n * parts;
}

/* The first run of combination OTHER, item X and POLICY. */
static size_t run_of(const struct sweep *s, size_t other, size_t x,
		     size_t policy)
{
	const struct simplan *p = s->plan;
	size_t slow = other / s->faster, fast = other % s->faster;
	size_t i = s->axis ? (slow * s->axis->count + x) * s->faster + fast :
			     other;

	return (i * p->npolicies + (s->axis ? policy : x)) * p->nseeds;
}

static bool stat_of(const struct sweep *s, size_t run, struct simstat *stat)
{
	*stat = simrow_stat(&s->rows[run], s->plan->nseeds, s->numbers);
	return stat->n != 0;
}

static bool has_number(const struct sweep *s)
{
	struct simstat stat;
	size_t i;

	for (i = 0; i < s->plan->nruns; i += s->plan->nseeds)
		if (stat_of(s, i, &stat))
			return true;
	return false;
}

static int compare_points(const void *a, const void *b)
{
	const struct chart_point *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

/* The points of a series; of words, the marks of policies are side by side. */
static size_t take_points(const struct sweep *s, size_t other, size_t policy,
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
static void title_of(const struct sweep *s, struct context *cx, size_t other,
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
static int put_sweep_plot(const struct sweep *s, struct out *out,
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
static void set_scales(struct sweep *s)
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
static void label_x(const struct sweep *s, char label[TEXT])
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

static void set_axes(struct sweep *s, char label[TEXT])
{
	size_t i;

	label_x(s, label);
	s->chart = (struct chart){
		.x = { .label = label },
		.y = { .label = "blocks written per block of the user" },
		.left = SVG_MARGIN, .width = PLOT_WIDTH, .height = PLOT_HEIGHT,
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

static int put_sweep(struct sweep *s, struct out *out, struct context *cx)
{
	size_t n = simsvg_count_plots(s->plan), parts, i;
	char label[TEXT], subtitle[TEXT] = "one run each";
	int err = 0;

	set_axes(s, label);
	if (s->plan->nseeds > 1)
		snprintf(subtitle, TEXT, "mean of %zu runs each; bars are the "
			 "intervals of 95 %% confidence", s->plan->nseeds);
	svg_begin(out, PLOT_WIDTH + 2 * SVG_MARGIN,
		  SVG_HEAD + (unsigned int)n * (PLOT_HEIGHT + GAP),
		  "Simulated cleaning", subtitle);
	parts = (series_of(s) + CHART_SERIES_MAX - 1) / CHART_SERIES_MAX;
	for (i = 0; i < n && !err; i++)
		err = put_sweep_plot(s, out, cx, i / parts, i % parts,
			       SVG_HEAD + (unsigned int)i * (PLOT_HEIGHT + GAP));
	svg_end(out);
	return err;
}

int simsvg_write_sweep(struct context *cx, const char *path,
		       const struct output_how *how,
		       const struct simplan *plan, const struct simrow *rows,
		       bool *drawn)
{
	struct sweep s = { .plan = plan, .rows = rows };
	struct outfile file;
	int err = 0;

	*drawn = false;
	choose_axis(&s);
	s.xs = calloc(items_of(&s), sizeof(*s.xs));
	s.numbers = calloc(plan->nseeds, sizeof(*s.numbers));
	if (!s.xs || !s.numbers)
		err = fail(cx, -ENOMEM, "plots");
	*drawn = !err && has_number(&s);
	if (*drawn)
		err = outfile_open(&file, cx, path, how);
	if (!err && *drawn)
		err = outfile_close(&file, cx, put_sweep(&s, file.out, cx));
	free(s.xs);
	free(s.numbers);
	return err;
}
