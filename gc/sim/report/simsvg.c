// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures.
 *
 * All curves of a kind share a plot, to compare policies.  Write amplification
 * is that of the time between two samples; a mean since the beginning would
 * hide how it changes.
 *
 * The runs of a sweep are numbered as in simplan.h.  One axis is drawn along x.
 * Slower axes, and faster ones except policies and seeds, together number the
 * plots.
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

#define COLUMNS 96u
#define LINES 48u
#define WINDOW 16		/* samples per point, which is their mean */
#define WAF_MAX 100.0		/* larger values are cut off */
#define TEXT 256u
#define SPREAD 0.7		/* share of the width of a word for its marks */

static const struct picture_kind kinds[] = {
	[SIMVOL_CLEAN] = { "clean", ".", SVG_NONE, false, true },
	[SIMVOL_OPEN] = { "being written", "o", SVG_INK, true, true },
	[SIMVOL_FULL] = { "in use, by what is needed", ".:x#", SVG_BLUE, false,
			  false },
	[SIMVOL_VICTIM] = { "being cleaned", "v", SVG_ORANGE, true, true },
	[SIMVOL_HELD] = { "not to be cleaned", "h", SVG_GRAY, false, true },
};

int simsvg_take(struct simsvg_run *s, struct context *cx, struct simrun *run,
		const char *policy)
{
	const struct simvol *v = run->vol;
	uint32_t n = v->config.nsegments, i;
	uint32_t lines = (n + COLUMNS - 1) / COLUMNS;
	const struct picture_things things = {
		.kinds = kinds, .count = sizeof(kinds) / sizeof(kinds[0]),
		.name = "segment", .share = "needed", .total = n,
	};
	int ret;

	*s = (struct simsvg_run){
		.policy = policy,
		.samples = run->samples,
		.nsamples = run->nsamples,
		.nsegments = n,
		.blocks = v->config.blocks,
	};
	run->samples = NULL;
	run->nsamples = run->room = 0;
	ret = picture_open(cx, &things, COLUMNS, lines < LINES ? lines : LINES,
			   &s->map);
	for (i = 0; !ret && i < n; i++)
		picture_add(s->map, i, v->state[i],
			    (double)v->needed[i] / v->config.blocks);
	return ret;
}

void simsvg_free(struct simsvg_run *s)
{
	free(s->samples);
	free(s->map);
}

/*
 * Draws a curve of all runs: of clean segments, or the AMPLIFICATION of each
 * WINDOW of samples.
 */
static int put_plot(struct svg *svg, struct context *cx, struct chart chart,
		    bool amplification, const struct simsvg_run *runs,
		    unsigned int n)
{
	static const struct simrun_sample zero;
	struct chart_series series[CHART_SERIES_MAX];
	const struct simrun_sample *to, *from;
	struct chart_point *points;
	size_t total = 0, at = 0, r, i;
	double y, user;

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
			to = &runs[r].samples[i];
			from = i < WINDOW ? &zero : to - WINDOW;
			user = (double)(to->user - from->user);
			y = 100.0 * to->clean / runs[r].nsegments;
			if (amplification)
				y = user > 0 ? (double)(to->written -
							from->written) / user :
					       1;
			if (amplification && y > WAF_MAX)
				y = WAF_MAX;
			points[at] = (struct chart_point){ (double)to->user,
							   y };
			chart.x.max = fmax(chart.x.max, points[at].x);
			chart.y.max = fmax(chart.y.max, y);
		}
	}
	chart_lines(svg, &chart, series, n);
	free(points);
	return 0;
}

int simsvg_write(struct context *cx, const char *path,
		 const struct output_how *how, const struct simsvg_run *runs,
		 size_t n)
{
	const struct chart clean = {
		.title = "Clean segments",
		.x = { "blocks written by the user", CHART_COUNT },
		.y = { "share of all segments", CHART_PERCENT },
	};
	const struct chart waf = {
		.title = "Write amplification",
		.x = { "blocks written by the user", CHART_COUNT },
		.y = { "blocks written per block of the user", CHART_NUMBER },
	};
	unsigned int plotted = (unsigned int)(n < CHART_SERIES_MAX ?
					      n : CHART_SERIES_MAX);
	struct outfile file;
	char text[TEXT];
	struct svg svg = { .page = false };
	size_t i;
	int ret, err = outfile_open(&file, cx, path, how);

	if (err)
		return err;
	err = out_open_memory(cx, &svg.out);
	if (err)
		return outfile_close(&file, cx, err);
	err = put_plot(&svg, cx, clean, false, runs, plotted);
	if (!err)
		err = put_plot(&svg, cx, waf, true, runs, plotted);
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "Segments at the end: %s",
			 runs[i].policy);
		picture_svg(runs[i].map, &svg, text);
	}
	snprintf(text, sizeof(text), "%u segments of %u blocks",
		 runs->nsegments, runs->blocks);
	ret = svg_close(&svg, cx, file.out, n > 1 ?
			"Simulated cleaning by policy" : "Simulated cleaning",
			text);
	return outfile_close(&file, cx, err ? err : ret);
}

/*
 * The picture of a sweep.
 */

/* The axis along x, and the position of runs on it. */
struct sweep {
	const struct simplan *plan;
	const struct simrow *rows;
	const struct simaxis *axis;	/* NULL: policies */
	const struct cli_option *row;
	bool words;
	size_t axis_number;
	size_t items, series;	/* along x; curves of one plot */
	size_t faster;		/* combinations of the faster axes */
	double *xs;		/* of the items */
	double *numbers;	/* memory for the runs of a point */
	struct chart chart;
};

/* An item of an axis as a number. */
static bool axis_number(const struct cli_option *row, const char *item,
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

/*
 * Chooses the axis along x: the first one with several numbers, or with several
 * values, or any; policies if there is no axis.  A single value is a word.
 */
static void choose_axis(struct sweep *s)
{
	const struct simplan *p = s->plan;
	size_t k, i, words = p->naxes;
	double x;

	for (k = 0; k < p->naxes; k++) {
		const struct simaxis *a = &p->axes[k];

		for (i = 0; i < a->count; i++)
			if (!axis_number(p->rows[k], a->items[i], &x))
				break;
		if (a->count > 1 && i == a->count)
			break;
		if (a->count > 1 && words == p->naxes)
			words = k;
	}
	s->words = k == p->naxes;
	s->faster = p->nvolumes;
	s->items = p->npolicies;
	s->series = 1;
	if (!p->naxes)
		return;
	if (s->words)
		k = words < p->naxes ? words : 0;
	s->axis_number = k;
	s->axis = &p->axes[k];
	s->row = p->rows[k];
	s->items = s->axis->count;
	s->series = p->npolicies;
	for (k++; k < p->naxes; k++)
		s->faster *= p->axes[k].count;
}

size_t simsvg_count_plots(const struct simplan *plan)
{
	struct sweep s = { .plan = plan };
	size_t n = plan->nvolumes, k;

	choose_axis(&s);
	for (k = 0; k < plan->naxes; k++)
		n *= k == s.axis_number ? 1 : plan->axes[k].count;
	return n * ((s.series + CHART_SERIES_MAX - 1) / CHART_SERIES_MAX);
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

static int compare_points(const void *a, const void *b)
{
	const struct chart_point *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

/*
 * Draws part PART of combination OTHER: a limited number of policies.  The title is
 * "placement dac, skew 1", or that of the only plot.
 */
static int put_sweep_plot(const struct sweep *s, struct svg *svg,
			  struct context *cx, size_t other, size_t part)
{
	size_t first = part * CHART_SERIES_MAX, of = s->series, i, k, count;
	size_t items = s->items, n = of - first, used = 0;
	const struct simplan *p = s->plan;
	struct chart_series series[CHART_SERIES_MAX];
	char title[TEXT] = "Write amplification";
	struct chart chart = s->chart;
	struct chart_point *points, *at;
	struct simplan_run run;
	struct simstat stat;
	double shift;
	int err = simplan_run(p, cx, run_of(s, other, 0, 0), &run);

	if (err)
		return err;
	for (k = 0; k < p->naxes && used < TEXT; k++)
		if (&p->axes[k] != s->axis)
			used += (size_t)snprintf(title + used, TEXT - used,
						 "%s%s %s", used ? ", " : "",
						 p->axes[k].name, run.values[k]);
	if (p->nvolumes > 1 && used < TEXT)
		snprintf(title + used, TEXT - used, "%svolume %s",
			 used ? ", " : "", run.volume_name);
	n = n < CHART_SERIES_MAX ? n : CHART_SERIES_MAX;
	points = calloc(n * items, sizeof(*points));
	if (!points)
		return fail(cx, -ENOMEM, "plots");
	for (i = 0; i < n; i++) {
		at = points + i * items;
		/* Above a word, the marks of policies are side by side. */
		shift = s->words ? SPREAD * (((double)(first + i) + 0.5) /
						     (double)of - 0.5) : 0;
		for (k = count = 0; k < items; k++) {
			if (!stat_of(s, run_of(s, other, k, first + i), &stat))
				continue;
			at[count++] = (struct chart_point){
				s->xs[k] + shift, stat.mean, stat.interval,
			};
		}
		sort_in_place(at, count, sizeof(*at), compare_points);
		series[i] = (struct chart_series){
			.name = s->axis ? p->policies[first + i].name :
					  "write amplification",
			.points = at,
			.count = count,
			.dots = s->words,
		};
	}
	chart.title = title;
	chart_lines(svg, &chart, series, (unsigned int)n);
	free(points);
	return 0;
}

int simsvg_write_sweep(struct context *cx, const char *path,
		       const struct output_how *how,
		       const struct simplan *plan, const struct simrow *rows,
		       bool *drawn)
{
	size_t n = simsvg_count_plots(plan), parts, i;
	char label[TEXT], subtitle[TEXT] = "one run each";
	struct sweep s = { .plan = plan, .rows = rows };
	struct chart *c = &s.chart;
	double most = 1, least = 1, x;
	struct simstat stat;
	struct outfile file;
	struct svg svg = { .page = false };
	int ret, err = 0;

	*drawn = false;
	choose_axis(&s);
	s.xs = calloc(s.items, sizeof(*s.xs));
	s.numbers = calloc(plan->nseeds, sizeof(*s.numbers));
	if (!s.xs || !s.numbers) {
		err = fail(cx, -ENOMEM, "plots");
		goto out;
	}
	/* The axes have scales for all points of all plots. */
	for (i = 0; i < plan->nruns; i += plan->nseeds) {
		if (!stat_of(&s, i, &stat))
			continue;
		*drawn = true;
		most = fmax(most, stat.mean + stat.interval);
		least = fmin(least, stat.mean - stat.interval);
	}
	if (*drawn)
		err = outfile_open(&file, cx, path, how);
	if (err || !*drawn)
		goto out;
	/* "fill (percent)" */
	snprintf(label, TEXT, s.row && s.row->arg ? "%s (%s)" : "%s",
		 s.axis ? s.axis->name : "policy", s.row ? s.row->arg : NULL);
	for (i = 0; label[i]; i++)
		label[i] = (char)tolower((unsigned char)label[i]);
	*c = (struct chart){
		.x = { .label = label, .min = s.words ? -0.5 : INFINITY,
		       .max = s.words ? (double)s.items - 0.5 : -INFINITY },
		.y = { "blocks written per block of the user", CHART_NUMBER,
		       fmax(least, 0), most },
	};
	if (s.row && s.row->kind == OPTION_SIZE)
		c->x.unit = CHART_BYTES;
	else if (s.row && s.row->kind == OPTION_STRING)
		c->x.unit = CHART_NUMBER;
	if (s.words) {
		c->x.words = (const char *const *)(s.axis ? s.axis->items :
							    plan->names.items);
		c->x.nwords = (unsigned int)s.items;
	}
	for (i = 0; i < s.items; i++) {
		x = (double)i;
		if (!s.words) {
			axis_number(s.row, s.axis->items[i], &x);
			c->x.min = fmin(c->x.min, x);
			c->x.max = fmax(c->x.max, x);
		}
		s.xs[i] = x;
	}
	if (plan->nseeds > 1)
		snprintf(subtitle, TEXT, "mean of %zu runs each; bars are the "
			 "intervals of 95 %% confidence", plan->nseeds);
	parts = (s.series + CHART_SERIES_MAX - 1) / CHART_SERIES_MAX;
	err = out_open_memory(cx, &svg.out);
	for (i = 0; i < n && !err; i++)
		err = put_sweep_plot(&s, &svg, cx, i / parts, i % parts);
	if (svg.out) {
		ret = svg_close(&svg, cx, file.out, "Simulated cleaning",
				subtitle);
		err = err ? err : ret;
	}
	err = outfile_close(&file, cx, err);
out:
	free(s.xs);
	free(s.numbers);
	return err;
}
