// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gcsim.nilfs2: simulations of all that is asked for, all with the same writes,
 * and their results side by side.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/tool.h"
#include "dev/devfile.h"
#include "gc/sim/report/simplot.h"
#include "gc/sim/report/simreport.h"
#include "gc/sim/report/simsvg.h"
#include "gc/sim/run/simoptions.h"
#include "gc/sim/run/simsetup.h"
#include "gc/sim/simjobs.h"
#include "gc/sim/sweep/simemit.h"
#include "gc/sim/sweep/simmerge.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"
#include "out/report.h"
#include "out/table.h"

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

/* The first victims of the last run, which does not begin. */
static int list_of_last(struct tool *tool, const struct simplan *plan,
			const struct siminput *input)
{
	struct siminput of_volume = *input;
	struct simplan_run run;
	struct simsetup s;
	int ret = simplan_run(plan, &tool->cx, plan->nruns - 1, &run);

	if (ret)
		return ret;
	of_volume.volume = run.volume;
	ret = simsetup_open(&s, &tool->cx, &run.options, &of_volume,
			    run.policy);
	if (!ret)
		ret = list_victims(tool, &s, run.options.victims);
	simsetup_close(&s);
	return ret;
}

/* Prints each failure: 1 where there is one, for the exit status. */
static int warn_failures(struct tool *tool, const struct simplan *plan,
			const struct simrow *rows)
{
	struct simplan_run run;
	int ret = 0;
	size_t i;

	for (i = 0; i < plan->nruns; i++) {
		if (!rows[i].error || simplan_run(plan, &tool->cx, i, &run))
			continue;
		ret = 1;
		tool_warn(tool, "%s%s%s: %s",
			  run.volume_name ? run.volume_name : "",
			  run.volume_name ? ": " : "", run.policy->name,
			  rows[i].error);
	}
	return ret;
}

/* What no picture may take the place of. */
static const char *input_of(const struct tool *tool,
			    const struct simplan *plan)
{
	return plan->options->trace ? plan->options->trace : tool->argv[0];
}

/* Draws those runs that have ended; DRAWN are zero for others. */
static int draw_runs(struct tool *tool, const struct simplan *plan,
		     const struct simrow *rows, struct simsvg_run *drawn)
{
	const char *input = input_of(tool, plan);
	size_t i, n = 0;

	for (i = 0; i < plan->nruns; i++) {
		struct simsvg_run last = drawn[i];

		if (!rows[i].ended)
			continue;
		drawn[i] = (struct simsvg_run){ 0 };
		drawn[n++] = last;
	}
	return n ? simsvg_write(&tool->cx, plan->options->svg, input, drawn,
				n) : 0;
}

static int merge_results(struct tool *tool, const struct simplan *plan,
			 struct simrow *rows, struct simmerge *merge)
{
	int ret;

	merge->rows = rows;
	ret = simmerge_read(merge, &tool->cx, plan, tool->argv, tool->argc);
	if (!ret && merge->others)
		tool_note(tool, "%" PRIu64 " results of other runs are ignored",
			  merge->others);
	return ret;
}

static int do_jobs(struct tool *tool, struct simjobs *j)
{
	const struct simplan *plan = j->plan;
	struct simmerge merge = { 0 };
	int ret;

	if (j->input->trace && !plan->options->csv)
		simreport_trace(&tool->report, j->input->trace);
	ret = plan->options->merge ? merge_results(tool, plan, j->rows, &merge) :
				     simjobs_run(j);
	if (!ret)
		ret = simreport_runs(&tool->report, &tool->cx, plan, j->rows,
				     plan->options->merge ? merge.image :
							    tool->argv[0]);
	simmerge_close(&merge);
	if (!ret && j->drawn)
		ret = draw_runs(tool, plan, j->rows, j->drawn);
	else if (!ret && plan->options->svg)
		ret = simplot_write(&tool->cx, plan->options->svg,
				    input_of(tool, plan), plan, j->rows);
	return ret ? ret : warn_failures(tool, plan, j->rows);
}

static int simulate_all(struct tool *tool, const struct simplan *plan,
			const struct siminput *input)
{
	struct simjobs j = {
		.tool = tool,
		.plan = plan,
		.input = input,
		.rows = calloc(plan->nruns, sizeof(*j.rows)),
	};
	bool draws = plan->options->svg && !simplan_is_sweep(plan);
	size_t i;
	int ret = 0;

	if (draws)
		j.drawn = calloc(plan->nruns, sizeof(*j.drawn));
	if (!j.rows || (draws && !j.drawn))
		ret = fail(&tool->cx, -ENOMEM, "results");
	if (!ret)
		ret = do_jobs(tool, &j);
	for (i = 0; i < plan->nruns; i++) {
		if (j.drawn)
			simsvg_free(&j.drawn[i]);
		if (j.rows)
			simrow_free(&j.rows[i]);
	}
	free(j.drawn);
	free(j.rows);
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

	if (!stat(o->trace, &st) && S_ISREG(st.st_mode))
		size = (uint64_t)st.st_size;
	progress_begin(&tool->progress, "trace", size, true);
	ret = simtrace_open(trace, &tool->cx, &config);
	progress_end(&tool->progress);
	return ret;
}

/* What is shown of one run is not shown of many. */
static int check_sweep(struct tool *tool, const struct simplan *plan)
{
	const struct simoptions *o = plan->options;

	if (simplan_is_sweep(plan) && (o->curve || o->wear || o->victims))
		return tool_usage(tool, "--curve, --wear and --victims are of "
					"runs without --sweep, --seeds and "
					"--csv");
	if (o->emit && (o->csv || o->svg))
		return tool_usage(tool, "--emit excludes --csv and --svg");
	if (o->emit && o->trace && !strcmp(o->trace, "-"))
		return tool_usage(tool, "--emit: standard input is read only "
					"once");
	if (tool->argc > 1 && !o->merge)
		return tool_usage(tool, "unexpected argument '%s'",
				  tool->argv[1]);
	return 0;
}

static int check_trace_options(struct tool *tool, const struct simoptions *o)
{
	if (tool->argc && !o->merge && o->clock == SIMOPTIONS_TIME)
		return tool_usage(tool, "--clock time: segments of an image "
					"have another one");
	if (o->trace && o->vol.placement == simplace_find("hot-cold") &&
	    !o->hot_files.count)
		return tool_usage(tool, "--placement hot-cold: a trace does "
					"not say what is hot");
	if (o->clock == SIMOPTIONS_TIME && (!o->trace || o->vol.second))
		return tool_usage(tool, "--clock time needs --trace, without "
					"--second");
	if (o->snapshot_seconds && !o->trace && !o->vol.second)
		return tool_usage(tool, "--snapshot-seconds needs --trace or "
					"--second");
	if (!o->trace && (o->volume || o->trace_format || o->addresses))
		return tool_usage(tool, "--volume, --trace-format and "
					"--addresses need --trace");
	return 0;
}

/* The only run is the one that --emit has given this key. */
static int check_key(struct tool *tool, const struct simplan *plan)
{
	struct simplan_run run;
	char key[SIMPARAM_TEXT];
	int ret;

	if (!plan->options->key)
		return 0;
	if (plan->nruns > 1)
		return tool_usage(tool, "--key: there are %zu runs",
				  plan->nruns);
	ret = simplan_run(plan, &tool->cx, 0, &run);
	if (ret)
		return ret;
	simemit_key_text(simemit_key(&run, tool->argv[0]), key);
	return strcmp(key, plan->options->key) ?
		       tool_usage(tool, "--key: the key of these options and "
				  "this version is %s", key) : 0;
}

/*
 * What each run asks for is in the range of its volume.  Where a trace has
 * several of these, a run says so by itself; an image may not have been read.
 */
static int check_ranges(struct tool *tool, const struct simplan *plan,
			const struct siminput *input)
{
	struct simplan_run run;
	size_t i;
	int ret = 0;

	if (plan->nvolumes > 1 || (tool->argc && !input->image))
		return 0;
	for (i = 0; i < plan->nruns && !ret; i += plan->nseeds) {
		ret = simplan_run(plan, &tool->cx, i, &run);
		if (!ret)
			ret = simsetup_check(&tool->cx, &run.options, input);
	}
	return ret ? tool_usage_failed(tool, ret) : 0;
}

/* An image has its own sizes, whatever is swept. */
static int check_image_options(struct tool *tool, const struct simplan *plan)
{
	const struct simoptions *usual = &simoptions_defaults;
	struct simplan_run run;
	const struct simoptions *o = &run.options;
	size_t i;
	int ret;

	if (!tool->argc || plan->options->merge)
		return 0;
	for (i = 0; i < plan->nruns; i += plan->nseeds) {
		ret = simplan_run(plan, &tool->cx, i, &run);
		if (ret)
			return ret;
		if (o->vol.nsegments || o->vol.data || o->fill != usual->fill ||
		    o->segment_size != usual->segment_size ||
		    o->block_size != usual->block_size)
			return tool_usage(tool, "--segments, --segment-size, "
					  "--block-size, --fill and --data "
					  "are those of the image");
		if (o->vol.holes)
			return tool_usage(tool, "--fill-holes is not for "
					  "images: snapshots need what is "
					  "dead");
	}
	return 0;
}

static int do_plan(struct tool *tool, const struct simplan *plan,
		   const struct siminput *input)
{
	const struct simoptions *o = plan->options;
	int ret = check_key(tool, plan);

	if (!ret && o->svg && simplan_is_sweep(plan) &&
	    simplot_count(plan) > SIMPLOT_PLOTS_MAX)
		ret = tool_usage(tool, "--svg: there are more than %u plots",
				 SIMPLOT_PLOTS_MAX);
	if (!ret)
		ret = check_ranges(tool, plan, input);
	if (ret)
		return ret;
	if (o->emit)
		return simemit_commands(&tool->report, &tool->cx, plan,
					tool->argv[0]);
	return o->victims ? list_of_last(tool, plan, input) :
			    simulate_all(tool, plan, input);
}

/* Reads what the runs of PLAN begin with, and does them. */
static int run_plan(struct tool *tool, struct simplan *plan)
{
	const struct simoptions *o = plan->options;
	struct simimage image = { 0 };
	struct siminput input = { 0 };
	struct simtrace trace = { 0 };
	struct dev *dev = NULL;
	int ret = 0;

	if (tool->argc && !o->emit && !o->merge)
		ret = devfile_open(&dev, &tool->cx, tool->argv[0],
				   DEVFILE_READ);
	if (!ret && dev)
		ret = simimage_read(&image, &tool->cx, dev, &o->hot_files);
	if (dev)
		input.image = &image;
	if (!ret && o->trace)
		ret = read_trace(tool, o, &image, &trace);
	if (!ret && o->trace) {
		input.trace = &trace;
		simplan_set_trace(plan, &trace);
	}
	if (!ret)
		ret = do_plan(tool, plan, &input);
	simtrace_close(&trace);
	simimage_close(&image);
	dev_close(dev);
	return ret;
}

static int run_gcsim(struct tool *tool, const void *options)
{
	const struct simoptions *o = options;
	struct simplan plan;
	int ret = check_trace_options(tool, o);

	if (ret)
		return ret;
	if (!tool->argc && o->hot_files.count && !o->merge)
		return tool_usage(tool, "--hot-file: there is no image");
	ret = simplan_open(&plan, &tool->cx, o);
	if (ret == -EINVAL)
		ret = tool_usage_failed(tool, ret);
	if (!ret)
		ret = check_sweep(tool, &plan);
	if (!ret)
		ret = check_image_options(tool, &plan);
	if (!ret)
		ret = run_plan(tool, &plan);
	simplan_close(&plan);
	return ret;
}

static const struct cli_command command = {
	.summary = "simulate a volume and its cleaner",
	.synopsis = "[IMAGE | RESULTS...]",
	.options = simoptions_rows,
	.options_size = sizeof(struct simoptions),
	.defaults = &simoptions_defaults,
	.min_args = 0,
	.max_args = TOOL_ANY_ARGS,
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
