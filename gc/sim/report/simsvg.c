// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The picture that gcsim.nilfs2 --svg draws.
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

#include "cli/outfile.h"
#include "out/chart.h"

#define WINDOW 16		/* samples per point, which is their mean */
#define WAF_MAX 100.0		/* larger values are cut off */
#define TEXT 256u
#define SPREAD 0.7		/* share of the width of a word for its marks */

int simsvg_take(struct simsvg_run *s, struct context *cx, struct simrun *run)
{
	const struct simvol *v = run->vol;
	const struct segmap_volume volume = { .segments = v->config.nsegments };
	int ret = segmap_open(cx, &volume, 0, 0, &s->map);
	uint32_t i;

	s->samples = run->samples;
	s->nsamples = run->nsamples;
	run->samples = NULL;
	run->nsamples = run->room = 0;
	for (i = 0; !ret && i < v->config.nsegments; i++)
		segmap_add(s->map, i, &(struct segmap_segment){
			.active = v->state[i] == SIMVOL_OPEN,
			.dirty = v->state[i] != SIMVOL_CLEAN,
			.victim = v->state[i] == SIMVOL_VICTIM,
			.held = v->state[i] == SIMVOL_HELD,
			.counted = true,
			.blocks = v->config.blocks,
			.kept = v->needed[i],
			.live = v->needed[i],
		});
	return ret;
}

void simsvg_free(struct simsvg_run *s)
{
	free(s->samples);
	free(s->map);
}

/* Draws the completed runs. */
static int put_runs(struct svg *svg, struct context *cx, const struct simplan *plan,
		    const struct simrow *rows, const struct simsvg_run *runs)
{
	static const struct simrun_sample zero;
	struct chart_series clean[CHART_SERIES_MAX], waf[CHART_SERIES_MAX];
	struct chart charts[] = { {
		.title = "Clean segments",
		.x = { "blocks written by the user", CHART_COUNT, 0, 1 },
		.y = { "segments", CHART_COUNT, 0, 1 },
		.series = clean,
	}, {
		.title = "Write amplification",
		.x = { "blocks written by the user", CHART_COUNT, 0, 1 },
		.y = { "blocks written per block of the user", CHART_NUMBER, 0, 1 },
		.series = waf,
	} };
	char title[sizeof(runs->name) + 32];
	struct chart_point *points, *at;
	size_t total = 1, i, k;
	unsigned int n = 0;

	for (i = 0; i < plan->nruns; i++)
		total += 2 * runs[i].nsamples;
	points = at = calloc(total, sizeof(*points));
	if (!points)
		return fail(cx, -ENOMEM, "curves");
	for (i = 0; i < plan->nruns && n < CHART_SERIES_MAX; i++) {
		const struct simsvg_run *s = &runs[i];

		if (!rows[i].ended)
			continue;
		clean[n] = (struct chart_series){ s->name, at, s->nsamples };
		waf[n++] = (struct chart_series){ s->name, at + s->nsamples,
						  s->nsamples };
		for (k = 0; k < s->nsamples; k++, at++) {
			const struct simrun_sample *to = &s->samples[k];
			const struct simrun_sample *from = k < WINDOW ? &zero :
							   to - WINDOW;
			double user = (double)(to->user - from->user);
			double y = user > 0 ? (double)(to->written - from->written) /
					      user : 1;

			at[0] = (struct chart_point){ (double)to->user, to->clean };
			at[s->nsamples] = (struct chart_point){ (double)to->user,
								fmin(y, WAF_MAX) };
		}
		at += s->nsamples;
	}
	for (k = 0; k < 2; k++) {
		charts[k].n = n;
		chart_lines(svg, &charts[k]);
	}
	for (i = 0; i < plan->nruns; i++) {
		snprintf(title, sizeof(title), "Segments at the end: %s", runs[i].name);
		if (rows[i].ended)
			segmap_svg(runs[i].map, svg, title);
	}
	free(points);
	return 0;
}

/*
 * The picture of a sweep: the axis along x, and the position of runs.
 */
struct sweep {
	const struct simaxis *axis;	/* the policies, if there is no other */
	const struct cli_option *row;	/* of the axis, or NULL */
	bool words;
	size_t series;		/* curves of one plot */
	size_t faster;		/* combinations of the faster axes */
	size_t plots, parts;	/* a plot has parts of CHART_SERIES_MAX curves */
};

/* An item of an axis as a number, or a size as bytes. */
static bool axis_number(const char *item, double *x)
{
	struct context cx;
	uint64_t bytes = 0;
	char *end;

	*x = strtod(item, &end);
	if (end != item && !*end)
		return isfinite(*x);
	context_init(&cx);
	if (option_size(&cx, "", item, &bytes))
		return false;
	*x = (double)bytes;
	return true;
}

/*
 * Chooses the axis along x: the first one with several numbers, or with several
 * values, or any; policies if there is no axis.  A single value is a word.
 */
static struct sweep sweep_of(const struct simplan *p)
{
	struct sweep s = {
		.axis = &p->names, .words = true, .series = 1, .faster = 1,
		.plots = p->nvolumes,
	};
	size_t k, i, best = 0, chosen = 0;
	double x;

	for (k = 0; k < p->naxes; k++) {
		const struct simaxis *a = &p->axes[k];
		size_t rank = a->count > 1 ? 2 : 1;

		for (i = 0; i < a->count && axis_number(a->items[i], &x);)
			i++;
		if (rank == 2 && i == a->count)
			rank = 3;
		if (rank > best) {
			best = rank;
			chosen = k;
		}
	}
	if (best) {
		s.axis = &p->axes[chosen];
		s.row = p->rows[chosen];
		s.words = best < 3;
		s.series = p->npolicies;
		s.faster = p->nvolumes;
	}
	for (k = 0; k < p->naxes; k++) {
		s.plots *= k == chosen ? 1 : p->axes[k].count;
		s.faster *= k > chosen ? p->axes[k].count : 1;
	}
	s.parts = (s.series + CHART_SERIES_MAX - 1) / CHART_SERIES_MAX;
	return s;
}

size_t simsvg_count_plots(const struct simplan *plan)
{
	struct sweep s = sweep_of(plan);

	return s.plots * s.parts;
}

/*
 * Draws the runs of PLAN with the statistics STATS, of all seeds each.  A plot has parts
 * with a limited number of policies.  Its title is "placement dac, skew 1", or that of
 * the only plot.
 */
static int put_sweep(struct svg *svg, struct context *cx, const struct simplan *p,
		     const struct simstat *stats)
{
	const struct sweep s = sweep_of(p);
	struct chart_series series[CHART_SERIES_MAX];
	char label[TEXT], title[TEXT] = "Write amplification";
	struct chart chart = {
		.title = title, .series = series,
		.x = { .label = label },
		.y = { "blocks written per block of the user", CHART_NUMBER, 1, 1 },
	};
	size_t items = s.axis->count, plot, first, used, i, j, k;
	struct chart_axis *x = &chart.x, *y = &chart.y;
	struct chart_point *points, *at, point;
	struct simplan_run run;
	int err = 0;

	points = calloc(CHART_SERIES_MAX * items, sizeof(*points));
	if (!points)
		return fail(cx, -ENOMEM, "plots");
	/* "fill (percent)" */
	snprintf(label, TEXT, s.row && s.row->arg ? "%s (%s)" : "%s",
		 s.row ? s.axis->name : "policy", s.row ? s.row->arg : NULL);
	for (i = 0; label[i]; i++)
		label[i] = (char)tolower((unsigned char)label[i]);
	if (s.row && s.row->kind == OPTION_SIZE)
		x->unit = CHART_BYTES;
	else if (s.row && s.row->kind == OPTION_STRING)
		x->unit = CHART_NUMBER;
	if (s.words) {
		x->words = (const char *const *)s.axis->items;
		x->nwords = (unsigned int)items;
	}
	/* The axes have scales for all points of all plots. */
	for (i = 0; i < items && !s.words; i++) {
		axis_number(s.axis->items[i], &point.x);
		x->min = i ? fmin(x->min, point.x) : point.x;
		x->max = i ? fmax(x->max, point.x) : point.x;
	}
	for (i = 0; i < p->nruns / p->nseeds; i++) {
		if (!stats[i].n)
			continue;
		y->min = fmax(fmin(y->min, stats[i].mean - stats[i].interval), 0);
		y->max = fmax(y->max, stats[i].mean + stats[i].interval);
	}
	for (plot = 0; plot < s.plots * s.parts; plot++) {
		k = plot / s.parts;
		first = (k / s.faster * items * s.faster + k % s.faster) * s.series;
		err = simplan_run(p, cx, first * p->nseeds, &run);
		if (err)
			break;
		for (k = used = 0; k < p->naxes && used < TEXT; k++)
			if (&p->axes[k] != s.axis)
				used += (size_t)snprintf(title + used, TEXT - used,
							 "%s%s %s", used ? ", " : "",
							 p->axes[k].name,
							 run.values[k]);
		if (p->nvolumes > 1 && used < TEXT)
			snprintf(title + used, TEXT - used, "%svolume %s",
				 used ? ", " : "", run.volume_name);
		chart.n = 0;
		for (i = plot % s.parts * CHART_SERIES_MAX;
		     i < s.series && chart.n < CHART_SERIES_MAX; i++) {
			at = points + chart.n * items;
			for (k = used = 0; k < items; k++) {
				const struct simstat *stat =
					&stats[first + k * s.faster * s.series + i];

				/* Above a word, policies are side by side. */
				point = (struct chart_point){
					(double)k + SPREAD * (((double)i + 0.5) /
							(double)s.series - 0.5),
					stat->mean, stat->interval,
				};
				if (!stat->n)
					continue;
				if (!s.words)
					axis_number(s.axis->items[k], &point.x);
				for (j = used++; j && at[j - 1].x > point.x; j--)
					at[j] = at[j - 1];
				at[j] = point;
			}
			series[chart.n++] = (struct chart_series){
				s.row ? p->policies[i].name : "write amplification",
				at, used, s.words,
			};
		}
		chart_lines(svg, &chart);
	}
	free(points);
	return err;
}

int simsvg_write(struct context *cx, const char *path,
		 const struct output_how *how, const struct simplan *plan,
		 const struct simrow *rows, const struct simsvg_run *runs,
		 bool *drawn)
{
	size_t n = plan->nruns / plan->nseeds, shown = 0, i;
	struct simstat *stats = calloc(n, sizeof(*stats));
	double *numbers = calloc(plan->nseeds, sizeof(*numbers));
	const struct simrow *row = rows;
	char subtitle[TEXT] = "one run each";
	struct svg svg = { .page = false };
	struct outfile file;
	int ret, err = 0;

	if (!stats || !numbers)
		err = fail(cx, -ENOMEM, "plots");
	for (i = 0; i < n && !err; i++) {
		stats[i] = simrow_stat(&rows[i * plan->nseeds], plan->nseeds, numbers);
		if (runs ? rows[i].ended : stats[i].n != 0)
			row = shown++ ? row : &rows[i];
	}
	*drawn = shown != 0;
	if (!err && *drawn)
		err = outfile_open(&file, cx, path, how);
	if (err || !*drawn)
		goto out;
	err = out_open_memory(cx, &svg.out);
	if (!err)
		err = runs ? put_runs(&svg, cx, plan, rows, runs) :
			     put_sweep(&svg, cx, plan, stats);
	if (runs)
		snprintf(subtitle, TEXT, "%u segments of %u blocks", row->nsegments,
			 row->blocks);
	else if (plan->nseeds > 1)
		snprintf(subtitle, TEXT, "mean of %zu runs each; bars are the "
			 "intervals of 95 %% confidence", plan->nseeds);
	if (svg.out) {
		ret = svg_close(&svg, cx, file.out, runs && shown > 1 ?
				"Simulated cleaning by policy" :
				"Simulated cleaning", subtitle);
		err = err ? err : ret;
	}
	err = outfile_close(&file, cx, err);
out:
	free(stats);
	free(numbers);
	return err;
}
