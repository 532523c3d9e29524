// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture of the runs of all policies.
 *
 * All curves of a kind share a plot, as comparing policies is what a simulation
 * is for.  Write amplification is that of the time between two samples; a mean
 * since the beginning would hide how it changes.
 */
#include "gc/sim/report/simsvg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int simsvg_take(struct simsvg_run *s, struct context *cx,
		const struct simrun *run, const char *policy)
{
	size_t bytes = (run->nsamples + 1) * sizeof(*s->samples);

	*s = (struct simsvg_run){
		.policy = policy,
		.nsamples = run->nsamples,
		.nsegments = run->vol->config.nsegments,
		.blocks = run->vol->config.blocks,
		.samples = malloc(bytes),
	};
	if (!s->samples)
		return fail(cx, -ENOMEM, "curves");
	memcpy(s->samples, run->samples, run->nsamples * sizeof(*s->samples));
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

int simsvg_write(struct context *cx, const char *path, const char *input,
		 const struct simsvg_run *runs, size_t n)
{
	struct outfile file;
	int ret = outfile_open(&file, cx, path, input);

	if (ret)
		return ret;
	ret = put_all(file.out, cx, runs, n);
	return outfile_close(&file, cx, ret);
}
