// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gcsim.nilfs2: runs all requested simulations with the same writes, and
 * reports their results side by side.
 *
 * Runs share only their input, which they do not change, so they use all
 * workers of the tool.  Each has its volume only as long as it runs.  Results
 * are in the order of the plan, regardless of the timing.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
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

/* Progress is counted in this number of parts of each run. */
#define PARTS 1000u

struct jobs {
	struct tool *tool;		/* borrowed, as the next two */
	const struct simplan *plan;
	const struct siminput *input;	/* shared by all of them */
	struct simrow *rows;		/* of each run */
	struct simsvg_run *drawn;	/* the same, or NULL: no picture */
	struct output_how picture;
	const char **inputs;	/* files that the picture must not replace */
	pthread_mutex_t lock;	/* of the next ones */
	uint64_t parts;		/* parts done, of all runs */
};

/* The progress of one run. */
struct portion {
	struct jobs *jobs;
	uint64_t total, parts;
};

/* Updates the progress of all runs when PARTS of this one are done. */
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

/* Does run I.  The other runs continue after a failure. */
static int do_run(struct context *cx, void *arg, unsigned int worker,
		  uint64_t i)
{
	struct jobs *j = arg;
	const struct simoptions *o = j->plan->options;
	bool is_last = i == j->plan->nruns - 1;
	struct siminput input = *j->input;
	struct portion portion = { .jobs = j };
	struct simplan_run run;
	struct simsetup s;
	int ret = simplan_run(j->plan, cx, i, &run);

	(void)worker;
	if (ret)
		goto failed;
	input.volume = run.volume;
	ret = simsetup_open(&s, cx, &run.options, &input, run.policy);
	portion.total = ret ? 0 : simsetup_total(&s);
	if (!ret)
		ret = simsetup_run(&s, cx, show_asked, &portion);
	if (!ret)
		simrow_take(&j->rows[i], &s);
	if (!ret && is_last && o->curve)
		simreport_curve(&j->tool->report, &s.run, run.policy->name);
	if (!ret && is_last && o->wear)
		simreport_wear(&j->tool->report, &s.run);
	if (!ret && j->drawn) {
		simplan_name(j->plan, &run, j->drawn[i].name);
		ret = simsvg_take(&j->drawn[i], cx, &s.run);
	}
	simsetup_close(&s);
	add_progress(&portion, PARTS);
failed:
	return !ret || ret == -EINTR ? ret : simrow_fail(&j->rows[i], cx, ret);
}

/* Lists the first victims of the last run, which does not begin. */
static int list_victims(struct tool *tool, const struct simplan *plan,
			const struct siminput *input)
{
	static const struct column columns[] = {
		{ "segment", "SEGMENT", VALUE_U64, 10 },
		{ "live", "LIVE", VALUE_U64, 8 },
	};
	struct siminput of_volume = *input;
	struct simplan_run run;
	struct simsetup s;
	struct table t;
	int64_t segnum;
	uint32_t i;
	int ret = simplan_run(plan, &tool->cx, plan->nruns - 1, &run);

	if (ret)
		return ret;
	of_volume.volume = run.volume;
	ret = simsetup_open(&s, &tool->cx, &run.options, &of_volume,
			    run.policy);
	if (ret)
		goto out;
	table_begin(&t, &tool->report, "victims", columns, 2);
	for (i = 0; i < run.options.victims; i++) {
		segnum = simclean_choose(&s.cleaner);
		if (segnum < 0)
			break;
		table_row(&t, (struct value[]){
			value_u64((uint64_t)segnum),
			value_u64(s.vol.segments[segnum].live),
		});
	}
	table_end(&t);
out:
	simsetup_close(&s);
	return ret;
}

/*
 * Does all runs, or reads the results of others, reports them, and draws the completed
 * runs or the sweep.  1 if a run failed, for the exit status.
 */
static int do_jobs(struct jobs *j)
{
	struct tool *tool = j->tool;
	struct context *cx = &tool->cx;
	const struct simplan *plan = j->plan;
	const struct simoptions *o = plan->options;
	struct simmerge merge = { .rows = j->rows };
	char name[SIMPLAN_NAME];
	struct simplan_run run;
	bool drawn = false;
	size_t i;
	int ret;

	if (j->input->trace && !o->csv)
		simreport_trace(&tool->report, j->input->trace);
	if (o->merge) {
		ret = simmerge_read(&merge, cx, plan, tool->argv, tool->argc);
		if (!ret && merge.others)
			tool_note(tool, "%" PRIu64 " results of other runs are "
				  "ignored", merge.others);
	} else {
		pthread_mutex_init(&j->lock, NULL);
		progress_begin(&tool->progress, plan->nruns > 1 ? "runs" :
			       plan->names.items[0],
			       (uint64_t)PARTS * plan->nruns, false);
		ret = pool_run(cx, plan->nruns, do_run, j);
		progress_end(&tool->progress);
		pthread_mutex_destroy(&j->lock);
	}
	if (!ret)
		ret = simreport_runs(&tool->report, cx, plan, j->rows,
				     o->merge ? merge.image : tool->argv[0]);
	free(merge.image);
	if (!ret && o->svg)
		ret = simsvg_write(cx, o->svg, &j->picture, plan, j->rows,
				   j->drawn, &drawn);
	if (!ret && o->svg && !drawn)
		tool_note(tool, "--svg: no run has a result, so there is no "
			  "picture");
	if (ret)
		return ret;
	for (i = 0; i < plan->nruns; i++) {
		if (!j->rows[i].error || simplan_run(plan, cx, i, &run))
			continue;
		ret = 1;
		simplan_name(plan, &run, name);
		tool_warn(tool, "%s: %s", name, j->rows[i].error);
	}
	return ret;
}

static int simulate_all(struct tool *tool, const struct simplan *plan,
			const struct siminput *input)
{
	const struct simoptions *o = plan->options;
	struct jobs j = {
		.tool = tool,
		.plan = plan,
		.input = input,
		.rows = calloc(plan->nruns, sizeof(*j.rows)),
	};
	bool draws = o->svg && !simplan_is_sweep(plan);
	size_t words = (size_t)tool->argc, i;
	int ret = 0;

	if (draws)
		j.drawn = calloc(plan->nruns, sizeof(*j.drawn));
	if (!j.rows || (draws && !j.drawn))
		ret = fail(&tool->cx, -ENOMEM, "results");
	if (!ret && o->svg) {
		/* Refuse an unwritable picture before the runs begin. */
		j.inputs = calloc(words + 2, sizeof(*j.inputs));
		if (!j.inputs) {
			ret = fail(&tool->cx, -ENOMEM, "%s", o->svg);
			goto out;
		}
		memcpy(j.inputs, tool->argv, words * sizeof(*j.inputs));
		j.inputs[words] = o->trace;
		j.picture = (struct output_how){
			.there = o->force ? OUTPUT_REPLACE : OUTPUT_ASK,
			.stream = true,
			.inputs = j.inputs,
		};
		ret = output_check(&tool->cx, o->svg, &j.picture);
	}
	if (!ret)
		ret = do_jobs(&j);
out:
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

/*
 * Whether options that concern all runs, or an image, can be combined.  An
 * image has its own sizes, so none of them can be swept.
 */
static int check_sweep(struct tool *tool, const struct simplan *plan)
{
	const struct simoptions *usual = &simoptions_defaults;
	const struct simoptions *o = plan->options;
	struct simplan_run run;
	size_t i;
	int ret;

	if (tool->argc > 1 && !o->merge)
		return tool_usage(tool, "unexpected argument '%s'",
				  tool->argv[1]);
	if (simplan_is_sweep(plan) && (o->curve || o->wear || o->victims))
		return tool_usage(tool, "--curve, --wear and --victims need "
				  "runs without --sweep, --seeds and --csv");
	if (o->emit && (o->csv || o->svg))
		return tool_usage(tool, "--emit excludes --csv and --svg");
	if (o->emit && o->trace && !strcmp(o->trace, "-"))
		return tool_usage(tool, "--emit: standard input is read only "
				  "once");
	if (!tool->argc || o->merge)
		return 0;
	o = &run.options;
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
					  "images: snapshots need dead "
					  "blocks");
	}
	return 0;
}

/*
 * Checks that need the trace and the image: the only run must have the key that
 * --emit printed for it, and the options of each run must be in the range of
 * its volume.  If a trace has several volumes, or the image was not read, the
 * runs check this themselves.
 */
static int check_runs(struct tool *tool, const struct simplan *plan,
		      const struct siminput *input)
{
	const struct simoptions *o = plan->options;
	char key[SIMPARAM_TEXT];
	struct simplan_run run;
	struct simsetup s;
	size_t i;
	int ret = 0;

	if (o->key && plan->nruns > 1)
		return tool_usage(tool, "--key: there are %zu runs",
				  plan->nruns);
	if (o->key) {
		ret = simplan_run(plan, &tool->cx, 0, &run);
		if (ret)
			return ret;
		simparam_key_text(simparam_key(&run, tool->argv[0]), key);
		if (strcmp(key, o->key) != 0)
			return tool_usage(tool, "--key: the key of these "
					  "options and this version is %s",
					  key);
	}
	if (o->svg && simplan_is_sweep(plan) &&
	    simsvg_count_plots(plan) > SIMSVG_PLOTS_MAX)
		return tool_usage(tool, "--svg: there are more than %u plots",
				  SIMSVG_PLOTS_MAX);
	if (plan->nvolumes > 1 || (tool->argc && !input->image))
		return 0;
	for (i = 0; i < plan->nruns && !ret; i += plan->nseeds) {
		ret = simplan_run(plan, &tool->cx, i, &run);
		if (!ret)
			ret = simsetup_plan(&s, &tool->cx, &run.options, input);
	}
	return ret ? tool_usage_failed(tool, ret) : 0;
}

/* Lists the words of options that have a phrase each. */
static int list_words(struct tool *tool)
{
	static const struct column columns[] = {
		{ "option", "OPTION", VALUE_PLAIN, 10 },
		{ "name", "NAME", VALUE_PLAIN, 17 },
		{ "summary", "SUMMARY", VALUE_PLAIN, 1 },
	};
	static const char *const options[] = { "workload", "placement", "policy" };
	static const char *(*const words[])(size_t i) = {
		simwork_word, simplace_word, simchoice_word,
	};
	const char *name, *summary;
	struct simchoice_policy p;
	struct table t;
	size_t kind, i;

	table_begin(&t, &tool->report, "words", columns, 3);
	for (kind = 0; kind < 3; kind++)
		for (i = 0; (name = words[kind](i)); i++) {
			if (kind == 0)
				summary = simwork_find(name)->summary;
			else if (kind == 1)
				summary = simplace_find(name)->summary;
			else
				summary = simchoice_parse(&p, name) ? "" :
								p.policy->summary;
			table_row(&t, (struct value[]){
				value_string(options[kind]),
				value_string(name), value_string(summary) });
		}
	table_end(&t);
	return 0;
}

static void show_bytes(void *arg, uint64_t done)
{
	struct tool *tool = arg;

	progress_update(&tool->progress, done);
}

#define NOT_GIVEN UINT64_MAX

/*
 * Reads the input of all runs, and does them.  They may use --max-memory, or the
 * memory of the machine; reading an image needs only the usual caches.
 */
static int run_gcsim(struct tool *tool, const void *options)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	struct context *cx = &tool->cx;
	uint64_t budget = cx->max_memory, bytes = 0;
	const struct simoptions *o = options;
	bool clocked = o->clock == SIMOPTIONS_TIME;
	struct simtrace_config config;
	struct simimage image = { 0 };
	struct siminput input = { 0 };
	struct simtrace trace = { 0 };
	const char *wrong = NULL;
	struct dev *dev = NULL;
	struct simplan plan;
	struct stat st;
	int ret;

	/* Options of a sweep are checked later. */
	if (clocked && tool->argc && !o->merge)
		wrong = "--clock time: segments of an image have another one";
	else if (clocked && (!o->trace || o->vol.second))
		wrong = "--clock time needs --trace, without --second";
	else if (o->snapshot_seconds && !o->trace && !o->vol.second)
		wrong = "--snapshot-seconds needs --trace or --second";
	else if (!o->trace && (o->volume || o->trace_format || o->addresses))
		wrong = "--volume, --trace-format and --addresses need --trace";
	else if (o->hot_files.count && !tool->argc && !o->merge)
		wrong = "--hot-file: there is no image";
	if (wrong)
		return tool_usage(tool, "%s", wrong);
	if (o->list)
		return list_words(tool);
	ret = simplan_open(&plan, cx, o);
	if (ret == -EINVAL)
		ret = tool_usage_failed(tool, ret);
	if (!ret)
		ret = check_sweep(tool, &plan);
	if (ret)
		goto out;
	if (budget == NOT_GIVEN) {
		cx->max_memory = CONTEXT_MAX_MEMORY_DEFAULT;
		if (pages > 0 && size > 0)
			budget = (uint64_t)pages * (uint64_t)size;
	}
	if (tool->argc && !o->emit && !o->merge)
		ret = devfile_open(&dev, cx, tool->argv[0], DEVFILE_READ);
	if (!ret && dev)
		ret = simimage_read(&image, cx, dev, &o->hot_files);
	if (dev)
		input.image = &image;
	cx->max_memory = budget;
	if (!ret && o->trace) {
		config = (struct simtrace_config){
			.path = o->trace,
			.format = (unsigned int)o->trace_format,
			.block_size = image.block_size ?
					      image.block_size :
					      (uint32_t)o->block_size,
			.volume = o->volume,
			.raw = o->addresses,
			.progress = show_bytes,
			.arg = tool,
		};
		if (!stat(o->trace, &st) && S_ISREG(st.st_mode))
			bytes = (uint64_t)st.st_size;
		progress_begin(&tool->progress, "trace", bytes, true);
		ret = simtrace_open(&trace, cx, &config);
		progress_end(&tool->progress);
	}
	if (!ret && trace.counts.cut)
		tool_note(tool, "%s: the last record is cut off: it is replayed "
			  "as far as it goes", o->trace);
	if (!ret && o->trace) {
		input.trace = &trace;
		simplan_set_trace(&plan, &trace);
	}
	if (!ret)
		ret = check_runs(tool, &plan, &input);
	if (!ret && !o->emit && !o->merge)
		ret = simbudget_check(cx, &plan, &input);
	if (ret)
		goto out;
	if (o->emit)
		ret = simemit_commands(&tool->report, cx, &plan, tool->argv[0]);
	else if (o->victims)
		ret = list_victims(tool, &plan, &input);
	else
		ret = simulate_all(tool, &plan, &input);
out:
	simtrace_close(&trace);
	simimage_close(&image);
	dev_close(dev);
	simplan_close(&plan);
	return ret;
}

static const struct cli_heading headings[] = {
	{ "Volume",
	  "segments segment-size block-size fill data nodes dat dat-entries "
	  "moves-change-nodes summaries frees-dead counts" },
	{ "Load",
	  "workload writes warm-up hot hot-file hot-writes file-blocks "
	  "file-size lifetime sequential skew trims dirty-pages flush-every "
	  "sync snapshot-every snapshot-seconds snapshots protect seed" },
	{ "Trace", "trace trace-format volume addresses clock" },
	{ "Cleaning",
	  "policy ties ages garbage-threshold max-search min-reclaimable "
	  "mc-min-reclaimable mc-step second low high scarce step" },
	{ "Placement", "placement classes metadata-log fill-holes" },
	{ "Experiments",
	  "sweep seeds emit key merge" },
	{ "Output",
	  "list csv curve svg force wear victims check" },
	{ NULL, NULL },
};

static const struct cli_command command = {
	.summary = "simulate a volume and its cleaner",
	.synopsis = "[IMAGE | RESULTS...]",
	.options = simoptions_rows,
	.headings = headings,
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
