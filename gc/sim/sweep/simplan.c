// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan of the runs.
 *
 * The options of a run are computed from its number whenever they are needed,
 * so a plan of any size needs memory only for its axes.
 */
#include "gc/sim/sweep/simplan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gc/sim/run/simsetup.h"
#include "gc/sim/sweep/simparam.h"

/*
 * Lists and ranges of arguments.
 *
 * Numbers of a range are computed as whole multiples of the last decimal place
 * that one of them has.  So 0.1:0.5:0.1 has five, regardless of binary
 * rounding.
 */

#define DECIMALS_MAX 6u
#define DIGITS_MAX 12u
#define SUFFIX_MAX 8u
#define TEXT_MAX 48u

/* A decimal number as written. */
struct decimal {
	uint64_t digits;	/* without the decimal point */
	unsigned int decimals;
	char suffix[SUFFIX_MAX];
};

/* Parses LEN characters at TEXT; false if they are not a number. */
static bool read_decimal(const char *text, size_t len, struct decimal *d)
{
	bool point = false;
	unsigned int n = 0;
	size_t i;

	*d = (struct decimal){ 0 };
	for (i = 0; i < len; i++) {
		if (text[i] == '.' && n && !point) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9')
			break;
		if (++n > DIGITS_MAX)
			return false;
		d->digits = 10 * d->digits + (uint64_t)(text[i] - '0');
		d->decimals += point;
	}
	if (!n || len - i >= SUFFIX_MAX || d->decimals > DECIMALS_MAX)
		return false;
	memcpy(d->suffix, text + i, len - i);
	return !strpbrk(d->suffix, "0123456789.:");
}

/*
 * Parses FIRST, LAST, STEP from the LEN characters at TEXT; false: not a range.
 */
static bool parse_range(const char *text, size_t len, struct decimal parts[3])
{
	const char *end = text + len, *colon;
	unsigned int n = 0, decimals = 0, i;

	do {
		colon = memchr(text, ':', (size_t)(end - text));
		len = (size_t)((colon ? colon : end) - text);
		if (n == 3 || !read_decimal(text, len, &parts[n]))
			return false;
		if (parts[n].decimals > decimals)
			decimals = parts[n].decimals;
		n++;
		text += len + 1;
	} while (colon);
	if (n < 2)
		return false;
	if (n == 2) {
		parts[2] = parts[0];
		parts[2].digits = 1;
		parts[2].decimals = 0;
	}
	for (i = 0; i < 3; i++) {
		for (; parts[i].decimals < decimals; parts[i].decimals++)
			parts[i].digits *= 10;
		if (strcmp(parts[i].suffix, parts[0].suffix) != 0)
			return false;
	}
	return true;
}

static int add_item(struct simaxis *a, struct context *cx, const char *word,
		    size_t len)
{
	if (a->count == SIMPLAN_ITEMS_MAX)
		return fail(cx, -EINVAL, "--sweep: %s has more than %u values",
			    a->name, SIMPLAN_ITEMS_MAX);
	if (array_reserve(cx, &a->items, &a->room, a->count + 1))
		return -ENOMEM;
	a->items[a->count] = strndup(word, len);
	if (!a->items[a->count])
		return fail(cx, -ENOMEM, "sweep");
	a->count++;
	return 0;
}

/* Adds the words of LIST, and all numbers of its ranges. */
static int add_list(struct simaxis *a, struct context *cx, const char *list)
{
	uint64_t at, one, step;
	struct decimal parts[3];
	char item[TEXT_MAX];
	int decimals, i, err;
	size_t len;

	do {
		len = strcspn(list, ",");
		if (!len)
			return fail(cx, -EINVAL, "--sweep: %s: a value is "
				    "missing", a->name);
		if (!parse_range(list, len, parts)) {
			err = add_item(a, cx, list, len);
			list += len;
			continue;
		}
		at = parts[0].digits;
		step = parts[2].digits;
		decimals = (int)parts[0].decimals;
		if (!step || at > parts[1].digits)
			return fail(cx, -EINVAL, "--sweep: %s: '%.*s' is a "
				    "range without numbers", a->name, (int)len,
				    list);
		for (i = 0, one = 1; i < decimals; i++)
			one *= 10;
		for (err = 0; at <= parts[1].digits && !err; at += step) {
			if (decimals)
				snprintf(item, sizeof(item), "%" PRIu64 ".%0*"
					 PRIu64 "%s", at / one, decimals,
					 at % one, parts[0].suffix);
			else
				snprintf(item, sizeof(item), "%" PRIu64 "%s",
					 at, parts[0].suffix);
			err = add_item(a, cx, item, strlen(item));
		}
		list += len;
	} while (!err && *list++);
	return err;
}

int simplan_axis_parse(struct simaxis *a, struct context *cx,
		       const char *text)
{
	const char *equals = strchr(text, '=');

	*a = (struct simaxis){ 0 };
	if (!equals || equals == text)
		return fail(cx, -EINVAL, "--sweep: '%s' is not "
			    "OPTION=VALUES", text);
	a->name = strndup(text, (size_t)(equals - text));
	if (!a->name)
		return fail(cx, -ENOMEM, "sweep");
	return add_list(a, cx, equals + 1);
}

void simplan_axis_free(struct simaxis *a)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		free(a->items[i]);
	free(a->items);
	free(a->name);
	*a = (struct simaxis){ 0 };
}

static const char *option_word_of(const struct cli_option *row, size_t i)
{
	if (row->choices)
		return row->choices[i];
	return row->word ? row->word(i) : NULL;
}

/*
 * Replaces the word "all", if it exists, by all words of the option, and sets
 * *HAS_ALL.
 */
static int expand_all(struct simaxis *a, struct context *cx,
		      const struct cli_option *row, bool *has_all)
{
	struct simaxis all = { .name = a->name };
	const char *word;
	size_t i, k;
	int err = 0;

	for (i = 0; i < a->count && !err; i++) {
		word = a->items[i];
		if (strcmp(word, "all") != 0 || !option_word_of(row, 0)) {
			err = add_item(&all, cx, word, strlen(word));
			continue;
		}
		*has_all = true;
		for (k = 0; !err && (word = option_word_of(row, k)); k++)
			err = add_item(&all, cx, word, strlen(word));
	}
	a->name = NULL;
	simplan_axis_free(a);
	*a = all;
	return err;
}

/* Adds all policies, each in the order of the request. */
static int take_policies(struct simplan *p, struct context *cx)
{
	const struct option_list *list = &p->options->policies;
	const struct cli_option *row = option_find(simoptions_rows, "policy");
	const char *text = NULL, *name;
	uint32_t least, most;
	size_t i, length;
	int err = 0;

	for (i = 0; i < list->count && !err; i++)
		err = add_list(&p->names, cx, list->items[i]);
	if (!err && !p->names.count)
		err = add_list(&p->names, cx, row->word(0));
	if (!err)
		err = expand_all(&p->names, cx, row, &p->has_all);
	if (err)
		return err;
	p->npolicies = p->names.count;
	p->policies = calloc(p->npolicies, sizeof(*p->policies));
	if (!p->policies)
		return fail(cx, -ENOMEM, "policies");
	for (i = 0; i < p->npolicies; i++) {
		text = p->names.items[i];
		if (simchoice_parse(&p->policies[i], text))
			break;
	}
	if (i == p->npolicies)
		return 0;
	/* TEXT is not a policy: report which part of it is wrong. */
	length = strcspn(text, ":");
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

static int take_axis(struct simplan *p, struct context *cx, const char *text)
{
	/* Options of input that is read once for all runs. */
	static const char *const shared[] = {
		"addresses", "hot-file", "trace", "trace-format",
	};
	const struct cli_option *trace = option_find(simoptions_rows, "trace");
	const struct simoptions *o = p->options;
	struct simaxis *a = &p->axes[p->naxes];
	const struct cli_option *row, *other;
	bool may_differ;
	size_t i;
	int err;

	if (p->naxes == SIMPLAN_AXES_MAX)
		return fail(cx, -EINVAL, "--sweep: more than %u of them",
			    SIMPLAN_AXES_MAX);
	err = simplan_axis_parse(a, cx, text);
	if (err)
		goto out;
	row = option_find(simoptions_rows, a->name);
	may_differ = row && simparam_is(row);
	for (i = 0; i < sizeof(shared) / sizeof(shared[0]) && row; i++)
		may_differ &= strcmp(shared[i], row->name) != 0;
	if (!may_differ)
		err = fail(cx, -EINVAL, "--sweep: '%s' is not an option that "
			   "can be swept", a->name);
	else if (o->trace && row->against == trace->group)
		err = fail(cx, -EINVAL, "--sweep: --%s and --trace exclude "
			   "each other", a->name);
	else if (o->trace && row->at == offsetof(struct simoptions, block_size))
		err = fail(cx, -EINVAL, "--sweep: a trace is read with one "
			   "block size");
	else if (o->seeds > 1 &&
		 row->at == offsetof(struct simoptions, work.seed))
		err = fail(cx, -EINVAL, "--sweep: use --seeds for the seed");
	for (i = 0; i < p->naxes && !err; i++) {
		other = p->rows[i];
		if (row == other ||
		    (row->against && row->against == other->group) ||
		    (row->group && row->group == other->against))
			err = fail(cx, -EINVAL, "--sweep: %s and %s exclude "
				   "each other", other->name, a->name);
	}
	if (!err)
		err = expand_all(a, cx, row, &p->has_all);
	if (!err)
		p->rows[p->naxes++] = row;
out:
	if (err)
		simplan_axis_free(a);
	return err;
}

int simplan_open(struct simplan *p, struct context *cx,
		 const struct simoptions *options)
{
	struct simplan_run run;
	size_t i, n;
	int err;

	*p = (struct simplan){
		.options = options,
		.nvolumes = 1,
		.nseeds = options->seeds,
	};
	err = options->seeds ? take_policies(p, cx) :
			       fail(cx, -EINVAL, "--seeds: no runs requested");
	for (i = 0; i < options->sweeps.count && !err; i++)
		err = take_axis(p, cx, options->sweeps.items[i]);
	if (err)
		return err;
	n = p->npolicies * p->nseeds;
	for (i = 0; i < p->naxes && n <= SIMOPTIONS_RUNS_MAX; i++)
		n *= p->axes[i].count;
	if (n > SIMOPTIONS_RUNS_MAX)
		return fail(cx, -EINVAL, "--sweep: more than %u runs",
			    SIMOPTIONS_RUNS_MAX);
	p->nruns = n;
	/*
	 * Check that each option accepts every value of its axis.  Whether a
	 * word of "all" supports the other options is reported in its row.
	 */
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

void simplan_close(struct simplan *p)
{
	size_t i;

	for (i = 0; i < p->naxes; i++)
		simplan_axis_free(&p->axes[i]);
	simplan_axis_free(&p->names);
	free(p->policies);
	*p = (struct simplan){ 0 };
}

void simplan_set_trace(struct simplan *p, const struct simtrace *trace)
{
	p->trace = trace;
	p->nruns *= trace->nchosen;
	p->nvolumes = trace->nchosen;
}

int simplan_run(const struct simplan *p, struct context *cx, size_t i,
		struct simplan_run *run)
{
	const struct cli_option *row;
	const char *text;
	bool *flag;
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
		row = p->rows[k];
		text = p->axes[k].items[i % p->axes[k].count];
		run->values[k] = text;
		i /= p->axes[k].count;
		if (row->kind != OPTION_FLAG) {
			err = option_store(cx, row, &run->options, text);
			continue;
		}
		/* A flag has no argument on the command line. */
		flag = (void *)((char *)&run->options + row->at);
		*flag = !strcmp(text, "yes");
		if (!*flag && strcmp(text, "no") != 0)
			err = fail(cx, -EINVAL, "--sweep: %s: '%s' is neither "
				   "yes nor no", row->name, text);
	}
	return err;
}

/* Appends a word to NAME, of which USED bytes are in use. */
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
