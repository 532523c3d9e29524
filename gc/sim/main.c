// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gcsim.nilfs2: one simulation for each requested policy, all with the same
 * writes, and their results side by side.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/tool.h"
#include "dev/devfile.h"
#include "gc/sim/simoptions.h"
#include "gc/sim/simrun.h"
#include "gc/sim/simsetup.h"
#include "gc/sim/simsvg.h"
#include "out/histogram.h"
#include "out/report.h"
#include "out/table.h"

/*
 * Tables.
 *
 * Write amplification is all blocks that reached the device over those that
 * the user wrote, even if only to memory.  There is one table for what policies
 * are compared by, and one for what kinds of blocks it was.
 */

/* What is kept of a run, for a row. */
struct simreport_row {
	const char *policy, *volume;
	struct simvol_totals totals;
	uint64_t asked, written;
	uint32_t wear_least, wear_most;
	uint64_t wear_sum;	/* over all segments */
	uint32_t nsegments, clean, starved;
};

/* Takes it from RUN. */
static void simreport_take(struct simreport_row *row, const struct simrun *run,
			   const char *policy, const char *volume)
{
	const struct simvol *v = run->vol;
	uint32_t i;

	*row = (struct simreport_row){
		.policy = policy,
		.volume = volume,
		.totals = simrun_totals(run),
		.asked = simrun_asked(run),
		.wear_least = UINT32_MAX,
		.nsegments = v->config.nsegments,
		.clean = v->nclean,
		.starved = simrun_starved(v),
	};
	row->written = simrun_written(&row->totals);
	for (i = 0; i < v->config.nsegments; i++) {
		uint32_t wear = v->wear[i];

		row->wear_sum += wear;
		row->wear_least = wear < row->wear_least ? wear :
							   row->wear_least;
		row->wear_most = wear > row->wear_most ? wear : row->wear_most;
	}
}

#define BUCKETS 16
#define BAR 40

/* How many segments were made clean how often. */
static void simreport_wear(struct report *r, const struct simrun *run)
{
	const struct simvol *v = run->vol;
	struct histogram h;
	uint32_t i, most = 0;

	for (i = 0; i < v->config.nsegments; i++)
		most = v->wear[i] > most ? v->wear[i] : most;
	histogram_linear(&h, most, BUCKETS);
	for (i = 0; i < v->config.nsegments; i++)
		histogram_add(&h, v->wear[i], 1);
	histogram_report(&h, r, "wear", VALUE_U64, BAR);
}

enum {
	VOLUME, POLICY, AMPLIFICATION, USER, WRITTEN, CLEANED, SKIPPED, ROUNDS, CLEAN,
	LEAST, MEAN, MOST, STARVED
};

static const struct column run_columns[] = {
	[VOLUME] = { "volume", "VOLUME", VALUE_STRING, 12 },
	[POLICY] = { "policy", "POLICY", VALUE_PLAIN, 16 },
	[AMPLIFICATION] = { "write_amplification", "WAF", VALUE_RATIO, 7 },
	[USER] = { "blocks_user", "USER", VALUE_U64, 10 },
	[WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 11 },
	[CLEANED] = { "segments_cleaned", "CLEANED", VALUE_U64, 8 },
	[SKIPPED] = { "segments_skipped", "SKIPPED", VALUE_U64, 8 },
	[ROUNDS] = { "rounds", "ROUNDS", VALUE_U64, 7 },
	[CLEAN] = { "segments_clean", "CLEAN", VALUE_U64, 6 },
	[LEAST] = { "wear_least", "WEAR:MIN", VALUE_U64, 5 },
	[MEAN] = { "wear_mean", "MEAN", VALUE_RATIO, 7 },
	[MOST] = { "wear_most", "MAX", VALUE_U64, 5 },
	[STARVED] = { "segments_starved", "STARVED", VALUE_U64, 7 },
};

static void put_row(struct table *t, const struct simreport_row *row)
{
	struct value v[] = {
		[VOLUME] = value_string(row->volume ? row->volume : ""),
		[POLICY] = value_string(row->policy),
		[AMPLIFICATION] = value_ratio(row->written, row->asked),
		[USER] = value_u64(row->asked),
		[WRITTEN] = value_u64(row->written),
		[CLEANED] = value_u64(row->totals.cleaned),
		[SKIPPED] = value_u64(row->totals.skipped),
		[ROUNDS] = value_u64(row->totals.rounds),
		[CLEAN] = value_u64(row->clean),
		[LEAST] = value_u64(row->wear_least),
		[MEAN] = value_ratio(row->wear_sum, row->nsegments),
		[MOST] = value_u64(row->wear_most),
		[STARVED] = value_u64(row->starved),
	};

	table_row(t, row->volume ? v : v + 1);
}

enum {
	K_VOLUME, K_POLICY, KIND, K_WRITTEN, K_MOVED, K_RECLAIMED
};

static const struct column kind_columns[] = {
	[K_VOLUME] = { "volume", "VOLUME", VALUE_STRING, 12 },
	[K_POLICY] = { "policy", "POLICY", VALUE_PLAIN, 16 },
	[KIND] = { "kind", "KIND", VALUE_PLAIN, 8 },
	[K_WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 11 },
	[K_MOVED] = { "blocks_moved", "MOVED", VALUE_U64, 11 },
	[K_RECLAIMED] = { "blocks_reclaimed", "RECLAIMED", VALUE_U64, 11 },
};

static void put_kind(struct table *t, const struct simreport_row *row,
		     const char *kind, const uint64_t counts[3])
{
	const struct value v[] = {
		[K_VOLUME] = value_string(row->volume ? row->volume : ""),
		[K_POLICY] = value_string(row->policy),
		[KIND] = value_string(kind),
		[K_WRITTEN] = value_u64(counts[0]),
		[K_MOVED] = value_u64(counts[1]),
		[K_RECLAIMED] = value_u64(counts[2]),
	};

	if (counts[0] || counts[1] || counts[2])
		table_row(t, row->volume ? v : v + 1);
}

static void put_kinds(struct table *t, const struct simreport_row *row)
{
	static const char *const names[] = { "data", "node", "DAT" };
	const struct simvol_totals *c = &row->totals;
	unsigned int k;

	for (k = 0; k < SIMVOL_KINDS; k++)
		put_kind(t, row, names[k],
			 (uint64_t[]){ c->written[k], c->moved[k],
				       c->reclaimed[k] });
	put_kind(t, row, "past", (uint64_t[]){ 0, c->held, 0 });
	put_kind(t, row, "summary",
		 (uint64_t[]){ c->summary, 0, c->reclaimed_summary });
}

/*
 * The tables, a row for each of N runs; their first column is only there if
 * they are of several volumes.
 */
static void simreport_put(struct report *r, const struct simreport_row *rows,
			  size_t n)
{
	size_t skip = !rows[0].volume, i;
	struct table t;

	table_begin(&t, r, "runs", run_columns + skip,
		    sizeof(run_columns) / sizeof(run_columns[0]) - skip);
	for (i = 0; i < n; i++)
		put_row(&t, &rows[i]);
	table_end(&t);
	table_begin(&t, r, "kinds", kind_columns + skip,
		    sizeof(kind_columns) / sizeof(kind_columns[0]) - skip);
	for (i = 0; i < n; i++)
		put_kinds(&t, &rows[i]);
	table_end(&t);
}

/* What was found in a trace. */
static void simreport_trace(struct report *r, const struct simtrace *t)
{
	const struct simtrace_counts *c = &t->counts;

	report_begin(r, "trace", "Trace");
	report_string(r, "format", "Format", t->format->name);
	report_u64(r, "lines", "Lines", c->lines);
	report_u64(r, "writes", "Writes", c->writes);
	report_u64(r, "trims", "Trims", c->trims);
	report_u64(r, "syncs", "Flushes", c->syncs);
	report_u64(r, "reads", "Reads, ignored", c->reads);
	report_u64(r, "other", "Other lines", c->other);
	report_u64(r, "bad", "Not understood", c->bad);
	report_u64(r, "unordered", "Back in time", c->unordered);
	report_u64(r, "volumes", "Volumes written", t->nvolumes);
	report_end(r);
}

enum {
	C_POLICY, C_USER, C_WRITTEN, C_CLEAN, C_STARVED
};

static const struct column curve_columns[] = {
	[C_POLICY] = { "policy", "POLICY", VALUE_PLAIN, 16 },
	[C_USER] = { "blocks_user", "USER", VALUE_U64, 10 },
	[C_WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 11 },
	[C_CLEAN] = { "segments_clean", "CLEAN", VALUE_U64, 6 },
	[C_STARVED] = { "segments_starved", "STARVED", VALUE_U64, 7 },
};

/* Free space and blocks written, as the run went on. */
static void simreport_curve(struct report *r, const struct simrun *run,
			    const char *policy)
{
	struct table t;
	size_t i;

	table_begin(&t, r, "curve", curve_columns,
		    sizeof(curve_columns) / sizeof(curve_columns[0]));
	for (i = 0; i < run->nsamples; i++) {
		const struct simrun_sample *s = &run->samples[i];
		const struct value v[] = {
			[C_POLICY] = value_string(policy),
			[C_USER] = value_u64(s->user),
			[C_WRITTEN] = value_u64(s->written),
			[C_CLEAN] = value_u64(s->clean),
			[C_STARVED] = value_u64(s->starved),
		};

		table_row(&t, v);
	}
	table_end(&t);
}

static void show_asked(void *arg, uint64_t done)
{
	struct tool *tool = arg;

	progress_update(&tool->progress, done);
}

static int list_victims(struct tool *tool, struct simsetup *s, uint32_t n)
{
	static const struct column columns[] = {
		{ "segment", "SEGMENT", VALUE_U64, 10 },
		{ "live", "LIVE", VALUE_U64, 8 },
	};
	struct table t;
	int64_t i;

	table_begin(&t, &tool->report, "victims", columns, 2);
	while (n-- && (i = simclean_choose(&s->cleaner)) >= 0)
		table_row(&t, (struct value[]){
			value_u64((uint64_t)i),
			value_u64(s->vol.segments[i].live),
		});
	table_end(&t);
	return 0;
}

/* The results of one run. */
struct result {
	struct simpolicy policy;
	size_t volume;		/* of a trace */
	const char *volume_name;	/* NULL: the only one */
	struct simreport_row row;
	struct simsvg_run drawn;
};

static int run_to_end(struct tool *tool, struct simsetup *s, const char *policy)
{
	int ret;

	progress_begin(&tool->progress, policy, simsetup_total(s), false);
	ret = simsetup_run(s, &tool->cx, show_asked, tool);
	progress_end(&tool->progress);
	return ret;
}

/* What is reported of one run. */
static int take_result(struct tool *tool, const struct simoptions *o,
		       const struct simrun *run, struct result *result,
		       bool is_last)
{
	const char *policy = result->policy.name;

	simreport_take(&result->row, run, policy, result->volume_name);
	if (is_last && o->curve)
		simreport_curve(&tool->report, run, policy);
	if (is_last && o->wear)
		simreport_wear(&tool->report, run);
	return o->svg ? simsvg_take(&result->drawn, &tool->cx, run, policy) :
			0;
}

static int simulate(struct tool *tool, const struct simoptions *o,
		    const struct siminput *input, struct result *result,
		    bool is_last)
{
	struct siminput of_volume = *input;
	struct simsetup s;
	int ret;

	of_volume.volume = result->volume;
	ret = simsetup_open(&s, &tool->cx, o, &of_volume, &result->policy);

	if (!ret && o->victims) {
		ret = is_last ? list_victims(tool, &s, o->victims) : 0;
		simsetup_close(&s);
		return ret;
	}
	if (!ret)
		ret = run_to_end(tool, &s, result->policy.name);
	if (!ret)
		ret = take_result(tool, o, &s.run, result, is_last);
	simsetup_close(&s);
	return ret;
}

/* The N results of each policy for each volume of a trace. */
static void find_volumes(const struct simtrace *t, struct result *results,
			 size_t n, size_t policies)
{
	size_t i;

	for (i = 0; i < n; i++) {
		results[i].policy = results[i % policies].policy;
		results[i].volume = i / policies;
		if (n > policies)
			results[i].volume_name =
				simtrace_volume(t, i / policies)->name;
	}
}

static int find_policies(struct tool *tool, const struct simoptions *o,
			 struct result *results)
{
	size_t i;

	results[0].policy.name = policy_list[0].name;
	for (i = 0; i < o->policies.count; i++)
		results[i].policy.name = o->policies.items[i];
	for (i = 0; i < o->policies.count || !i; i++) {
		struct simpolicy *p = &results[i].policy;

		if (simpolicy_parse(p, p->name))
			return tool_usage(tool, "--policy: unknown policy '%s'",
					  p->name);
	}
	return 0;
}

static int report_results(struct tool *tool, const struct simoptions *o,
			  const struct result *results, size_t n)
{
	const char *input = o->trace ? o->trace : tool->argv[0];
	struct simreport_row *rows = calloc(n, sizeof(*rows));
	struct simsvg_run *drawn = calloc(n, sizeof(*drawn));
	size_t i;
	int ret = 0;

	if (!rows || !drawn)
		ret = fail(&tool->cx, -ENOMEM, "results");
	for (i = 0; i < n && !ret; i++) {
		rows[i] = results[i].row;
		drawn[i] = results[i].drawn;
	}
	if (!ret)
		simreport_put(&tool->report, rows, n);
	if (!ret && o->svg)
		ret = simsvg_write(&tool->cx, o->svg, input, drawn, n);
	free(drawn);
	free(rows);
	return ret;
}

static int simulate_policies(struct tool *tool, const struct simoptions *o,
			     const struct siminput *input)
{
	size_t policies = o->policies.count ? o->policies.count : 1, i;
	size_t n = policies * (input->trace ? input->trace->nchosen : 1);
	struct result *results = calloc(n, sizeof(*results));
	int ret;

	if (!results)
		return fail(&tool->cx, -ENOMEM, "results");
	ret = find_policies(tool, o, results);
	find_volumes(input->trace, results, n, policies);
	if (!ret && input->trace && !o->victims)
		simreport_trace(&tool->report, input->trace);
	for (i = 0; i < n && !ret; i++)
		ret = simulate(tool, o, input, &results[i], i == n - 1);
	if (!ret && !o->victims)
		ret = report_results(tool, o, results, n);
	for (i = 0; i < n; i++)
		simsvg_free(&results[i].drawn);
	free(results);
	return ret;
}

static int read_trace(struct tool *tool, const struct simoptions *o,
		      const struct simimage *image, struct simtrace *trace)
{
	const struct simtrace_config config = {
		.path = o->trace,
		.format = (unsigned int)o->trace_format,
		.block_size = image->block_size ? image->block_size :
						  (uint32_t)o->block_size,
		.volume = o->volume,
		.raw = o->addresses,
		.progress = show_asked,
		.arg = tool,
	};
	struct stat st;
	uint64_t size = 0;
	int ret;

	if (!o->block_size || o->block_size > UINT32_MAX)
		return tool_usage(tool, "--block-size: no size of blocks");
	if (!stat(o->trace, &st) && S_ISREG(st.st_mode))
		size = (uint64_t)st.st_size;
	progress_begin(&tool->progress, "trace", size, true);
	ret = simtrace_open(trace, &tool->cx, &config);
	progress_end(&tool->progress);
	return ret;
}

static int check_trace_options(struct tool *tool, const struct simoptions *o)
{
	if (tool->argc && o->clock == SIMOPTIONS_TIME)
		return tool_usage(tool, "--clock time: segments of an image "
					"have another one");
	if (o->trace && o->placement == simplace_find("hot-cold") &&
	    !o->hot_files.count)
		return tool_usage(tool, "--placement hot-cold: a trace does "
					"not say what is hot");
	if (o->clock == SIMOPTIONS_TIME && (!o->trace || o->second))
		return tool_usage(tool, "--clock time needs --trace, without "
					"--second");
	if (o->snapshot_seconds && !o->trace && !o->second)
		return tool_usage(tool, "--snapshot-seconds needs --trace or "
					"--second");
	if (!o->trace && (o->volume || o->trace_format || o->addresses))
		return tool_usage(tool, "--volume, --trace-format and "
					"--addresses need --trace");
	return 0;
}

static int run_gcsim(struct tool *tool, const void *options)
{
	const struct simoptions *o = options;
	struct simimage image = { 0 };
	struct siminput input = { 0 };
	struct simtrace trace = { 0 };
	struct dev *dev = NULL;
	int ret = check_trace_options(tool, o);

	if (ret)
		return ret;
	ret = simoptcheck_options(&tool->cx, o);
	if (ret)
		return tool_usage_failed(tool, ret);
	if (!tool->argc && o->hot_files.count)
		return tool_usage(tool, "--hot-file: there is no image");
	if (tool->argc)
		ret = devfile_open(&dev, &tool->cx, tool->argv[0],
				   DEVFILE_READ);
	if (!ret && dev)
		ret = simimage_read(&image, &tool->cx, dev, &o->hot_files);
	if (dev)
		input.image = &image;
	if (!ret && o->trace)
		ret = read_trace(tool, o, &image, &trace);
	if (o->trace)
		input.trace = &trace;
	if (!ret)
		ret = simulate_policies(tool, o, &input);
	simtrace_close(&trace);
	simimage_close(&image);
	dev_close(dev);
	return ret;
}

static const struct cli_command command = {
	.summary = "simulate a volume and its cleaner",
	.synopsis = "[IMAGE]",
	.options = simoptions_rows,
	.options_size = sizeof(struct simoptions),
	.defaults = &simoptions_defaults,
	.min_args = 0,
	.max_args = 1,
	.run = run_gcsim,
};

static const struct cli_tool gcsim = {
	.name = "gcsim.nilfs2",
	.summary = "Simulate a volume that is written and cleaned.",
	.only = &command,
	.exit_failure = 1,
	.exit_usage = 2,
	.only_reads = true,
};

int main(int argc, char **argv)
{
	return tool_main(&gcsim, argc, argv);
}
