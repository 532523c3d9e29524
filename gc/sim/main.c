// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gcsim.nilfs2: simulations of all that is asked for, all with the same writes,
 * and their results side by side.
 *
 * Runs share only what they begin with and do not change it, so that they are
 * done on as many workers as the tool has.  Each has its volume only as long as
 * it runs.  Results are in the order of the plan, whatever the timing.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/wide.h"
#include "cli/tool.h"
#include "dev/devfile.h"
#include "gc/sim/report/simreport.h"
#include "gc/sim/report/simsvg.h"
#include "gc/sim/run/simoptions.h"
#include "gc/sim/run/simsetup.h"
#include "gc/sim/sweep/simbudget.h"
#include "gc/sim/sweep/simparam.h"
#include "gc/sim/sweep/simmerge.h"
#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"
#include "out/report.h"
#include "out/table.h"

/* Progress is counted in so many parts of each run. */
#define PARTS 1000u

struct jobs {
	struct tool *tool;		/* borrowed, as the next two */
	const struct simplan *plan;
	const struct siminput *input;	/* shared by all of them */
	struct simrow *rows;		/* of each run */
	struct simsvg_run *drawn;	/* the same, or NULL: none is drawn */
	struct output_how picture;
	const char **inputs;	/* what it must not take the place of */
	pthread_mutex_t lock;	/* of the next ones */
	uint64_t parts;		/* of all runs, that are done */
};

/* Of one run. */
struct portion {
	struct jobs *jobs;
	uint64_t total, parts;
};

static void add_progress(struct portion *p, uint64_t parts)
{
	struct jobs *jobs = p->jobs;

	if (parts <= p->parts)
		return;
	pthread_mutex_lock(&jobs->lock);
	jobs->parts += parts - p->parts;
	progress_update(&jobs->tool->progress, jobs->parts);
	pthread_mutex_unlock(&jobs->lock);
	p->parts = parts;
}

static void show_asked(void *arg, uint64_t done)
{
	struct portion *p = arg;

	if (p->total)
		add_progress(p, wide_mul_div(done < p->total ? done : p->total,
					     PARTS, 0, p->total));
}

/* What is taken of run I, which has ended. */
static int take_result(struct jobs *j, struct context *cx,
		       struct simsetup *s, size_t i, const char *policy)
{
	const struct simoptions *o = j->plan->options;
	bool is_last = i == j->plan->nruns - 1;

	simrow_take(&j->rows[i], s);
	if (is_last && o->curve)
		simreport_curve(&j->tool->report, &s->run, policy);
	if (is_last && o->wear)
		simreport_wear(&j->tool->report, &s->run);
	return j->drawn ? simsvg_take(&j->drawn[i], cx, &s->run, policy) : 0;
}

static int simulate(struct jobs *j, struct context *cx, size_t i)
{
	struct siminput input = *j->input;
	struct portion portion = { .jobs = j };
	struct simplan_run run;
	struct simsetup s;
	int ret = simplan_run(j->plan, cx, i, &run);

	if (ret)
		return ret;
	input.volume = run.volume;
	ret = simsetup_open(&s, cx, &run.options, &input, run.policy);
	portion.total = ret ? 0 : simsetup_total(&s);
	if (!ret)
		ret = simsetup_run(&s, cx, show_asked, &portion);
	if (!ret)
		ret = take_result(j, cx, &s, i, run.policy->name);
	simsetup_close(&s);
	add_progress(&portion, PARTS);
	return ret;
}

/* One failure is no reason not to do the others. */
static int do_run(struct context *cx, void *arg, unsigned int worker,
		  uint64_t i)
{
	struct jobs *j = arg;
	int ret = simulate(j, cx, (size_t)i);

	(void)worker;
	if (!ret || ret == -EINTR)
		return ret;
	return simrow_fail(&j->rows[i], cx, ret);
}

static int do_runs(struct jobs *j)
{
	struct tool *tool = j->tool;
	int ret;

	pthread_mutex_init(&j->lock, NULL);
	progress_begin(&tool->progress,
		       j->plan->nruns > 1 ? "runs" : j->plan->names.items[0],
		       (uint64_t)PARTS * j->plan->nruns, false);
	ret = pool_run(&tool->cx, j->plan->nruns, do_run, j);
	progress_end(&tool->progress);
	pthread_mutex_destroy(&j->lock);
	return ret;
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
	char name[SIMPLAN_NAME];
	struct simplan_run run;
	int ret = 0;
	size_t i;

	for (i = 0; i < plan->nruns; i++) {
		if (!rows[i].error || simplan_run(plan, &tool->cx, i, &run))
			continue;
		ret = 1;
		simplan_name(plan, &run, name);
		tool_warn(tool, "%s: %s", name, rows[i].error);
	}
	return ret;
}

static int note_no_picture(struct tool *tool)
{
	tool_note(tool, "--svg: no run has a number, so there is no picture");
	return 0;
}

/* Draws those runs that have ended; DRAWN are zero for others. */
static int draw_runs(struct jobs *j)
{
	struct simsvg_run *drawn = j->drawn;
	size_t i, n = 0;

	for (i = 0; i < j->plan->nruns; i++) {
		struct simsvg_run last = drawn[i];

		if (!j->rows[i].ended)
			continue;
		drawn[i] = (struct simsvg_run){ 0 };
		drawn[n++] = last;
	}
	if (!n)
		return note_no_picture(j->tool);
	return simsvg_write(&j->tool->cx, j->plan->options->svg, &j->picture,
			    drawn, n);
}

static int draw_sweep(struct jobs *j)
{
	bool drawn;
	int ret = simsvg_write_sweep(&j->tool->cx, j->plan->options->svg,
				     &j->picture, j->plan, j->rows, &drawn);

	return ret || drawn ? ret : note_no_picture(j->tool);
}

/* A picture that could not be written is refused before the runs begin. */
static int check_picture(struct jobs *j)
{
	const struct simoptions *o = j->plan->options;
	size_t words = (size_t)j->tool->argc;

	j->inputs = calloc(words + 2, sizeof(*j->inputs));
	if (!j->inputs)
		return fail(&j->tool->cx, -ENOMEM, "%s", o->svg);
	memcpy(j->inputs, j->tool->argv, words * sizeof(*j->inputs));
	j->inputs[words] = o->trace;
	j->picture = (struct output_how){
		.there = o->force ? OUTPUT_REPLACE : OUTPUT_ASK,
		.stream = true,
		.inputs = j->inputs,
	};
	return output_check(&j->tool->cx, o->svg, &j->picture);
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

static int do_jobs(struct tool *tool, struct jobs *j)
{
	const struct simplan *plan = j->plan;
	struct simmerge merge = { 0 };
	int ret;

	if (j->input->trace && !plan->options->csv)
		simreport_trace(&tool->report, j->input->trace);
	ret = plan->options->merge ? merge_results(tool, plan, j->rows, &merge) :
				     do_runs(j);
	if (!ret)
		ret = simreport_runs(&tool->report, &tool->cx, plan, j->rows,
				     plan->options->merge ? merge.image :
							    tool->argv[0]);
	simmerge_close(&merge);
	if (!ret && j->drawn)
		ret = draw_runs(j);
	else if (!ret && plan->options->svg)
		ret = draw_sweep(j);
	return ret ? ret : warn_failures(tool, plan, j->rows);
}

static int simulate_all(struct tool *tool, const struct simplan *plan,
			const struct siminput *input)
{
	struct jobs j = {
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
	if (!ret && plan->options->svg)
		ret = check_picture(&j);
	if (!ret)
		ret = do_jobs(tool, &j);
	for (i = 0; i < plan->nruns; i++) {
		if (j.drawn)
			simsvg_free(&j.drawn[i]);
		if (j.rows)
			simrow_free(&j.rows[i]);
	}
	free(j.inputs);
	free(j.drawn);
	free(j.rows);
	return ret;
}

static void show_bytes(void *arg, uint64_t done)
{
	struct tool *tool = arg;

	progress_update(&tool->progress, done);
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
		.progress = show_bytes,
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

struct check {
	bool is_wrong;
	const char *text;
};

static int check_all(struct tool *tool, const struct check *checks, size_t n)
{
	for (; n--; checks++)
		if (checks->is_wrong)
			return tool_usage(tool, "%s", checks->text);
	return 0;
}

#define CHECKS(checks) checks, sizeof(checks) / sizeof((checks)[0])

static int check_sweep(struct tool *tool, const struct simplan *plan)
{
	const struct simoptions *o = plan->options;
	const struct check checks[] = {
		{ simplan_is_sweep(plan) && (o->curve || o->wear || o->victims),
		  "--curve, --wear and --victims are of runs without --sweep, "
		  "--seeds and --csv" },
		{ o->emit && (o->csv || o->svg),
		  "--emit excludes --csv and --svg" },
		{ o->emit && o->trace && !strcmp(o->trace, "-"),
		  "--emit: standard input is read only once" },
	};

	if (tool->argc > 1 && !o->merge)
		return tool_usage(tool, "unexpected argument '%s'",
				  tool->argv[1]);
	return check_all(tool, CHECKS(checks));
}

static int check_trace_options(struct tool *tool, const struct simoptions *o)
{
	bool clocked = o->clock == SIMOPTIONS_TIME;
	const struct check checks[] = {
		{ clocked && tool->argc && !o->merge,
		  "--clock time: segments of an image have another one" },
		{ clocked && (!o->trace || o->vol.second),
		  "--clock time needs --trace, without --second" },
		{ o->snapshot_seconds && !o->trace && !o->vol.second,
		  "--snapshot-seconds needs --trace or --second" },
		{ !o->trace && (o->volume || o->trace_format || o->addresses),
		  "--volume, --trace-format and --addresses need --trace" },
		{ o->hot_files.count && !tool->argc && !o->merge,
		  "--hot-file: there is no image" },
	};

	return check_all(tool, CHECKS(checks));
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
	simparam_key_text(simparam_key(&run, tool->argv[0]), key);
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
	struct simsetup s;
	size_t i;
	int ret = 0;

	if (plan->nvolumes > 1 || (tool->argc && !input->image))
		return 0;
	for (i = 0; i < plan->nruns && !ret; i += plan->nseeds) {
		ret = simplan_run(plan, &tool->cx, i, &run);
		if (!ret)
			ret = simsetup_plan(&s, &tool->cx, &run.options, input);
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
	    simsvg_count_plots(plan) > SIMSVG_PLOTS_MAX)
		ret = tool_usage(tool, "--svg: there are more than %u plots",
				 SIMSVG_PLOTS_MAX);
	if (!ret)
		ret = check_ranges(tool, plan, input);
	if (ret)
		return ret;
	if (o->emit)
		return simparam_commands(&tool->report, &tool->cx, plan,
					tool->argv[0]);
	if (!o->merge)
		ret = simbudget_check(&tool->cx, plan, input);
	if (ret)
		return ret;
	return o->victims ? list_of_last(tool, plan, input) :
			    simulate_all(tool, plan, input);
}

#define NOT_GIVEN UINT64_MAX

/*
 * What all runs may take: --max-memory, or the memory of the machine.  What reads
 * an image has the usual caches then, as they need no more.
 */
static uint64_t take_budget(struct tool *tool)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t given = tool->cx.max_memory;

	if (given != NOT_GIVEN)
		return given;
	tool->cx.max_memory = CONTEXT_MAX_MEMORY_DEFAULT;
	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : given;
}

/* Reads what the runs of PLAN begin with, and does them. */
static int run_plan(struct tool *tool, struct simplan *plan)
{
	uint64_t budget = take_budget(tool);
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
	tool->cx.max_memory = budget;
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
	.max_memory = NOT_GIVEN,
	.only_reads = true,
};

int main(int argc, char **argv)
{
	return tool_main(&gcsim, argc, argv);
}
