// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan of the runs.
 *
 * The options of a run are computed from its number whenever they are needed, so
 * that a plan of any size takes the memory of its axes only.
 */
#include "gc/sim/sweep/simplan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/run/simsetup.h"
#include "gc/sim/sweep/simparam.h"

/* TEXT is no policy: which part of it is wrong. */
static int refuse_policy(struct context *cx, const char *text)
{
	size_t length = strcspn(text, ":"), i;
	const char *name;
	uint32_t least, most;

	for (i = 0; (name = simchoice_word(i)); i++)
		if (strlen(name) == length && !strncmp(name, text, length))
			break;
	if (!name || !text[length])
		return fail(cx, -EINVAL, "--policy: unknown policy '%s'", text);
	if (!simchoice_range(i, &least, &most))
		return fail(cx, -EINVAL, "--policy: '%s': %s has no number",
			    text, name);
	return fail(cx, -EINVAL, "--policy: '%s': the number is not from %"
		    PRIu32 " to %" PRIu32, text, least, most);
}

/* All policies, each in the place where it was asked for. */
static int take_policies(struct simplan *p, struct context *cx)
{
	const struct option_list *list = &p->options->policies;
	const struct cli_option *row = option_find(simoptions_rows, "policy");
	size_t i;
	int err = 0;

	for (i = 0; i < list->count && !err; i++)
		err = simaxis_add(&p->names, cx, list->items[i]);
	if (!err && !p->names.count)
		err = simaxis_add(&p->names, cx, row->word(0));
	if (!err)
		err = simaxis_expand(&p->names, cx, row, &p->has_all);
	if (err)
		return err;
	p->npolicies = p->names.count;
	p->policies = calloc(p->npolicies, sizeof(*p->policies));
	if (!p->policies)
		return fail(cx, -ENOMEM, "policies");
	for (i = 0; i < p->npolicies; i++)
		if (simchoice_parse(&p->policies[i], p->names.items[i]))
			return refuse_policy(cx, p->names.items[i]);
	return 0;
}

/* Whether runs can have different values of ROW: not of what is read once. */
static bool may_differ(const struct cli_option *row)
{
	static const char *const shared[] = {
		"addresses", "hot-file", "trace", "trace-format",
	};
	size_t i;

	for (i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (!strcmp(shared[i], row->name))
			return false;
	return simparam_is(row);
}

/* Whether an axis of ROW makes sense beside those so far. */
static int check_axis(const struct simplan *p, struct context *cx,
		      const struct cli_option *row, const char *name)
{
	const struct simoptions *o = p->options;
	const struct cli_option *trace = option_find(simoptions_rows, "trace");
	size_t i;

	if (!row || !may_differ(row))
		return fail(cx, -EINVAL, "--sweep: '%s' is no option that runs "
			    "can have different values of", name);
	if (o->trace && row->against == trace->group)
		return fail(cx, -EINVAL, "--sweep: --%s and --trace exclude "
			    "each other", name);
	if (o->trace && row->at == offsetof(struct simoptions, block_size))
		return fail(cx, -EINVAL, "--sweep: a trace is read for one "
			    "size of blocks");
	if (o->seeds > 1 && row->at == offsetof(struct simoptions, work.seed))
		return fail(cx, -EINVAL, "--sweep: --seeds has the seeds");
	for (i = 0; i < p->naxes; i++)
		if (row == p->rows[i] ||
		    (row->against && row->against == p->rows[i]->group) ||
		    (row->group && row->group == p->rows[i]->against))
			return fail(cx, -EINVAL, "--sweep: %s and %s exclude "
				    "each other", p->rows[i]->name, name);
	return 0;
}

static int take_axis(struct simplan *p, struct context *cx, const char *text)
{
	struct simaxis *a = &p->axes[p->naxes];
	const struct cli_option *row;
	int err;

	if (p->naxes == SIMPLAN_AXES_MAX)
		return fail(cx, -EINVAL, "--sweep: more than %u of them",
			    SIMPLAN_AXES_MAX);
	err = simaxis_parse(a, cx, text);
	row = err ? NULL : option_find(simoptions_rows, a->name);
	if (!err)
		err = check_axis(p, cx, row, a->name);
	if (!err)
		err = simaxis_expand(a, cx, row, &p->has_all);
	if (err) {
		simaxis_free(a);
		return err;
	}
	p->rows[p->naxes++] = row;
	return 0;
}

static int count_runs(struct simplan *p, struct context *cx)
{
	size_t i, n = p->npolicies * p->nseeds;

	for (i = 0; i < p->naxes && n <= SIMOPTIONS_RUNS_MAX; i++)
		n *= p->axes[i].count;
	if (n > SIMOPTIONS_RUNS_MAX)
		return fail(cx, -EINVAL, "--sweep: more than %u runs",
			    SIMOPTIONS_RUNS_MAX);
	p->nruns = n;
	return 0;
}

/*
 * Every value of every axis is one that its option takes.  Which of all words can
 * do what is asked for is seen in their rows.
 */
static int check_values(const struct simplan *p, struct context *cx)
{
	struct simplan_run run;
	size_t i;
	int err = 0;

	for (i = 0; i < p->nruns && !err; i += p->nseeds) {
		err = simplan_run(p, cx, i, &run);
		if (!err)
			err = simoptions_check(cx, &run.options);
		if (!err && !p->has_all)
			err = simoptions_check_words(cx, &run.options,
						     run.policy);
	}
	return err;
}

int simplan_open(struct simplan *p, struct context *cx,
		 const struct simoptions *options)
{
	size_t i;
	int err;

	*p = (struct simplan){
		.options = options,
		.nvolumes = 1,
		.nseeds = options->seeds,
	};
	err = options->seeds ? take_policies(p, cx) :
			       fail(cx, -EINVAL, "--seeds: no run at all");
	for (i = 0; i < options->sweeps.count && !err; i++)
		err = take_axis(p, cx, options->sweeps.items[i]);
	if (!err)
		err = count_runs(p, cx);
	return err ? err : check_values(p, cx);
}

void simplan_close(struct simplan *p)
{
	size_t i;

	for (i = 0; i < p->naxes; i++)
		simaxis_free(&p->axes[i]);
	simaxis_free(&p->names);
	free(p->policies);
	*p = (struct simplan){ 0 };
}

void simplan_set_trace(struct simplan *p, const struct simtrace *trace)
{
	p->trace = trace;
	p->nruns *= trace->nchosen;
	p->nvolumes = trace->nchosen;
}

/* "yes" and "no", as a flag has no argument on the command line. */
static int store_flag(struct context *cx, const struct cli_option *row,
		      struct simoptions *o, const char *text)
{
	bool *flag = (void *)((char *)o + row->at);

	*flag = !strcmp(text, "yes");
	return *flag || !strcmp(text, "no") ? 0 :
	       fail(cx, -EINVAL, "--sweep: %s: '%s' is neither yes nor no",
		    row->name, text);
}

static int store(struct context *cx, const struct cli_option *row,
		 struct simoptions *o, const char *text)
{
	return row->kind == OPTION_FLAG ? store_flag(cx, row, o, text) :
					  option_store(cx, row, o, text);
}

int simplan_run(const struct simplan *p, struct context *cx, size_t i,
		struct simplan_run *run)
{
	size_t k;
	int err = 0;

	*run = (struct simplan_run){ .options = *p->options };
	run->options.work.seed += i % p->nseeds;
	i /= p->nseeds;
	run->policy = &p->policies[i % p->npolicies];
	i /= p->npolicies;
	run->volume = i % p->nvolumes;
	i /= p->nvolumes;
	if (p->trace && p->options->volume)
		run->volume_name = simtrace_volume(p->trace, run->volume)->name;
	for (k = p->naxes; k-- && !err;) {
		run->values[k] = p->axes[k].items[i % p->axes[k].count];
		err = store(cx, p->rows[k], &run->options, run->values[k]);
		i /= p->axes[k].count;
	}
	return err;
}

/* Adds a word to NAME, of which USED bytes are used. */
__attribute__((format(printf, 3, 4)))
static void add_word(char *name, size_t *used, const char *fmt, ...)
{
	va_list ap;

	if (*used >= SIMPLAN_NAME)
		return;
	va_start(ap, fmt);
	*used += (size_t)vsnprintf(name + *used, SIMPLAN_NAME - *used, fmt,
				   ap);
	va_end(ap);
}

void simplan_name(const struct simplan *p, const struct simplan_run *run,
		  char name[SIMPLAN_NAME])
{
	size_t used = 0, k;

	for (k = 0; k < p->naxes; k++)
		add_word(name, &used, "%s %s, ", p->axes[k].name,
			 run->values[k]);
	if (run->volume_name)
		add_word(name, &used, "volume %s, ", run->volume_name);
	add_word(name, &used, "%s", run->policy->name);
	if (p->nseeds > 1)
		add_word(name, &used, ", seed %" PRIu64,
			 run->options.work.seed);
}

bool simplan_is_sweep(const struct simplan *p)
{
	const struct simoptions *o = p->options;

	return p->naxes || p->nseeds > 1 || o->csv || o->key || o->emit ||
	       o->merge;
}
