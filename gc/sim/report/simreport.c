// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of runs.
 *
 * One table has the numbers for comparing policies, another one the kinds of
 * blocks.  A sweep has many runs, so the latter is omitted, and the means of
 * runs that differ by seed follow.  In a sweep every parameter is a column, so
 * that a line can be read without its command; in text only parameters that
 * differ have one.
 */
#include "config.h"

#include "gc/sim/report/simreport.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/sweep/simparam.h"
#include "out/histogram.h"
#include "out/table.h"

#define BUCKETS 16
#define BAR 40
#define NS_PER_S UINT64_C(1000000000)

void simreport_wear(struct report *r, const struct simrun *run)
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

void simreport_trace(struct report *r, const struct simtrace *t)
{
	const struct simtrace_counts *c = &t->counts;
	char columns[SIMFORMAT_HEADING];

	simformat_heading(t->format, &t->state, columns);
	report_begin(r, "trace", "Trace");
	report_string(r, "format", "Format", t->format->name);
	report_string(r, "columns", "Columns", columns);
	report_string(r, "units", "Units", t->format->units);
	report_u64(r, "volumes", "Volumes written", t->nvolumes);
	if (t->has_times) {
		report_value(r, VALUE_RATIO, "first_time", "First time, s",
			     value_ratio(t->origin, NS_PER_S));
		report_value(r, VALUE_RATIO, "last_time", "Last time, s",
			     value_ratio(t->latest, NS_PER_S));
	}
	report_u64(r, "lines", "Lines", c->lines);
	report_u64(r, "writes", "Writes", c->writes);
	report_u64(r, "trims", "Trims", c->trims);
	report_u64(r, "syncs", "Flushes", c->syncs);
	report_u64(r, "reads", "Reads, ignored", c->reads);
	report_u64(r, "other", "Other lines", c->other);
	report_u64(r, "bad", "Not understood", c->bad);
	report_u64(r, "unordered", "Back in time", c->unordered);
	report_bool(r, "cut", "Cut off", c->cut);
	report_end(r);
}

enum {
	C_POLICY, C_USER, C_WRITTEN, C_CLEAN, C_STARVED
};

static const struct column curve_columns[] = {
	[C_POLICY] = { "policy", "POLICY", VALUE_PLAIN, 17 },
	[C_USER] = { "blocks_user", "USER", VALUE_U64, 10 },
	[C_WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 11 },
	[C_CLEAN] = { "segments_clean", "CLEAN", VALUE_U64, 6 },
	[C_STARVED] = { "segments_starved", "STARVED", VALUE_U64, 7 },
};

void simreport_curve(struct report *r, const struct simrun *run,
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

/*
 * The source of a column: one of the heads, a parameter, or a number of a row.
 */
enum source {
	KEY, VERSION, IMAGE, VOLUME, POLICY, SEEDS, MEAN, INTERVAL, LEAST, MOST,
	PARAMETER, FIELD,
};

static const struct column heads[] = {
	[KEY] = { "key", NULL, VALUE_PLAIN },
	[VERSION] = { "version", NULL, VALUE_STRING },
	[IMAGE] = { "image", NULL, VALUE_STRING },
	[VOLUME] = { "volume", "VOLUME", VALUE_STRING, 12 },
	[POLICY] = { "policy", "POLICY", VALUE_PLAIN, 17 },
	[SEEDS] = { "runs", "RUNS", VALUE_U64, 4 },
	[MEAN] = { "write_amplification_mean", "WAF:MEAN", VALUE_RATIO, 8 },
	[INTERVAL] = { "write_amplification_interval", "95%", VALUE_RATIO, 7 },
	[LEAST] = { "write_amplification_least", "LEAST", VALUE_RATIO, 7 },
	[MOST] = { "write_amplification_most", "MOST", VALUE_RATIO, 7 },
};

#define NAME 32u
#define PARAMETER_WIDTH 8u
#define MICRO 1e6

struct place {
	enum source source;
	const struct cli_option *option;	/* of PARAMETER */
	const struct simrow_field *field;
	char key[NAME], head[NAME];
	char text[SIMPARAM_TEXT];	/* of the value, if it needs memory */
};

/* All tables, one after the other. */
struct simreport {
	struct report *report;
	const struct simplan *plan;
	const struct simrow *rows;
	const char *image;
	bool csv;
	double *numbers;	/* memory for the runs that differ by seed */
	struct table out;
	struct column columns[TABLE_COLUMNS_MAX];
	struct place places[TABLE_COLUMNS_MAX];
	struct value values[TABLE_COLUMNS_MAX];
	unsigned int count;
};

/* The source of a line. */
struct line {
	size_t run;		/* number of the run */
	const char *volume;	/* instead of the run's, or NULL */
	const struct simrow *row;	/* NULL: a mean of several */
	struct simstat stat;	/* of the runs that differ by seed */
};

static struct column *add_report_column(struct simreport *s, enum source source,
					const struct column *column,
					struct place **place)
{
	unsigned int i = s->count;

	s->count += i < TABLE_COLUMNS_MAX - 1;
	s->places[i] = (struct place){ .source = source };
	s->columns[i] = *column;
	*place = &s->places[i];
	return &s->columns[i];
}

static void add_heads(struct simreport *s, enum source from, enum source to)
{
	struct place *place;
	enum source i;

	for (i = from; i <= to; i++)
		add_report_column(s, i, &heads[i], &place);
}

static bool is_seed(const struct cli_option *row)
{
	return row->kind == OPTION_U64 &&
	       row->at == offsetof(struct simoptions, work.seed);
}

/* Adds the options of runs; with SEEDS also the seeds. */
static void add_parameters(struct simreport *s, bool seeds)
{
	const struct simplan *plan = s->plan;
	bool sweep = simplan_is_sweep(plan), each = plan->nvolumes > 1, is_axis;
	const struct cli_option *row;
	struct column *c;
	struct place *p;
	size_t i;

	s->count = 0;
	if (sweep)
		add_heads(s, seeds ? KEY : VERSION, IMAGE);
	if (sweep || each)
		add_heads(s, VOLUME, VOLUME);
	if (!each && s->count)
		s->columns[s->count - 1].head = NULL;
	add_heads(s, POLICY, POLICY);
	for (row = simoptions_rows; sweep && row->name; row++) {
		if (!simparam_is(row) || (!seeds && is_seed(row)))
			continue;
		c = add_report_column(s, PARAMETER, &(struct column){
			.kind = simparam_kind(row), .width = PARAMETER_WIDTH,
		}, &p);
		p->option = row;
		/* "block-size" is block_size and BLOCK-SIZE. */
		snprintf(p->key, sizeof(p->key), "%s", row->name);
		snprintf(p->head, sizeof(p->head), "%s", row->name);
		for (i = 0; p->key[i]; i++) {
			if (p->key[i] == '-')
				p->key[i] = '_';
			p->head[i] = (char)toupper((unsigned char)p->head[i]);
		}
		is_axis = plan->nseeds > 1 && is_seed(row);
		for (i = 0; i < plan->naxes; i++)
			is_axis |= plan->rows[i] == row;
		c->key = p->key;
		c->head = is_axis ? p->head : NULL;
	}
}

/* Adds the results; in text notes and errors only if there are any. */
static void add_fields(struct simreport *s, bool notes, bool errors)
{
	const struct simrow_field *f;
	struct place *place;
	struct column *c;

	for (f = simrow_fields; f->column.key; f++) {
		c = add_report_column(s, FIELD, &f->column, &place);
		place->field = f;
		if ((c->kind == VALUE_FLAGS && !notes) ||
		    (c->kind == VALUE_STRING && !errors))
			c->head = NULL;
	}
}

static struct value value_of(const struct simreport *s, struct place *p,
			     const struct simplan_run *run,
			     const struct line *line)
{
	const struct simstat *stat = &line->stat;
	double mean = 0;

	switch (p->source) {
	case KEY:
		simparam_key_text(simparam_key(run, s->image), p->text);
		return value_string(p->text);
	case VERSION:
		return value_string(PACKAGE_VERSION);
	case IMAGE:
		return value_string(s->image);
	case VOLUME:
		return value_string(line->volume ? line->volume :
						   run->volume_name);
	case POLICY:
		return value_string(run->policy->name);
	case PARAMETER:
		return simparam_value(p->option, &run->options, p->text);
	case FIELD:
		return simrow_value(line->row, p->field);
	case SEEDS:
		return value_u64(stat->n);
	case MEAN:
		mean = stat->mean;
		break;
	case INTERVAL:
		mean = stat->interval;
		break;
	case LEAST:
		mean = stat->least;
		break;
	case MOST:
		mean = stat->most;
		break;
	}
	if (stat->n < (p->source == INTERVAL ? 2 : 1))
		return value_absent();
	return value_ratio((uint64_t)(mean * MICRO + 0.5), (uint64_t)MICRO);
}

/*
 * Puts a row as comma-separated values (RFC 4180, except for line ends).  Numbers have
 * no units, an absent value is empty, names of bits are separated by commas, and
 * strings are not escaped.
 */
static void put_csv(struct out *out, const struct column *columns,
		    unsigned int count, const struct value *values)
{
	unsigned int i;
	bool quoted;
	size_t k;

	for (i = 0; i < count; i++) {
		const struct value_flag *f = columns[i].flags;
		enum value_kind kind = columns[i].kind;
		const struct value *v = &values[i];
		const char *comma = "";

		if (i)
			out_char(out, ',');
		if (!v->present)
			continue;
		quoted = kind == VALUE_FLAGS && v->number & (v->number - 1);
		if (kind == VALUE_STRING || kind == VALUE_PLAIN)
			for (k = 0; k < v->len; k++)
				quoted |= strchr("\",\r\n", v->bytes[k]) != NULL;
		if (quoted)
			out_char(out, '"');
		switch (kind) {
		case VALUE_STRING:
		case VALUE_PLAIN:
			for (k = 0; k < v->len; k++) {
				if (v->bytes[k] == '"')
					out_char(out, '"');
				out_char(out, v->bytes[k]);
			}
			break;
		case VALUE_FLAGS:
			for (; f && f->name; f++) {
				if (!(v->number & f->mask))
					continue;
				out_printf(out, "%s%s", comma, f->name);
				comma = ",";
			}
			break;
		case VALUE_BOOL:
			out_string(out, v->number ? "true" : "false");
			break;
		case VALUE_SIZE:
		case VALUE_HEX:
		case VALUE_TIME:
			out_u64(out, v->number);
			break;
		default:
			value_put(out, kind, NULL, v, 0, false);
		}
		if (quoted)
			out_char(out, '"');
	}
	out_char(out, '\n');
}

static int put_run_line(struct simreport *s, struct context *cx,
			const struct line *line)
{
	struct simplan_run run;
	unsigned int i;
	int err = simplan_run(s->plan, cx, line->run, &run);

	if (err)
		return err;
	for (i = 0; i < s->count; i++)
		s->values[i] = value_of(s, &s->places[i], &run, line);
	if (s->csv)
		put_csv(s->report->out, s->columns, s->count, s->values);
	else
		table_row(&s->out, s->values);
	return 0;
}

/*
 * Prints a line for each run, in CSV with the mean of those that differ by
 * seed.
 */
static int put_runs(struct simreport *s, struct context *cx)
{
	size_t n = s->plan->nseeds;
	struct line line = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; s->csv && i < s->count; i++)
		out_printf(s->report->out, "%s%s", i ? "," : "",
			   s->columns[i].key);
	if (s->csv)
		out_char(s->report->out, '\n');
	else
		table_begin(&s->out, s->report, "runs", s->columns, s->count);
	for (; line.run < s->plan->nruns && !err; line.run++) {
		line.row = &s->rows[line.run];
		if (s->csv && line.run % n == 0)
			line.stat = simrow_stat(line.row, n, s->numbers);
		err = put_run_line(s, cx, &line);
	}
	return err;
}

/* In text the totals are lines of the same table. */
static int put_runs_and_totals(struct simreport *s, struct context *cx)
{
	static const char *const texts[] = {
		"no-victim: no segment became clean while it was measured, so "
		"there is nothing to compare",
		"not-steady: the halves of the measurement differ by more "
		"than 5 %",
		"too-small: the cleaner needs more than a tenth of "
		"the space without data",
	};
	size_t n = s->plan->nvolumes, i, v, nfailed;
	size_t per_volume = s->plan->npolicies * s->plan->nseeds;
	bool failed = false, many = n > 1;
	bool is_text = report_is_text(s->report);
	uint32_t notes = 0;
	int err;

	for (i = 0; i < s->plan->nruns; i++) {
		failed |= !s->rows[i].ended;
		notes |= s->rows[i].notes;
	}
	add_parameters(s, true);
	add_fields(s, notes, failed);
	err = put_runs(s, cx);
	if (many && !err && !is_text) {
		table_end(&s->out);
		table_begin(&s->out, s->report, "totals", s->columns, s->count);
	}
	/* A line for each run of the first volume: the sum of all, or the failure. */
	for (i = 0; many && i < s->plan->nruns && !err; i++) {
		struct simrow sum = { 0 };

		if (i / per_volume % n)
			continue;
		for (v = nfailed = 0; v < n; v++) {
			const struct simrow *row = &s->rows[i + v * per_volume];

			if (row->ended)
				simrow_add(&sum, row);
			else
				nfailed++;
		}
		if (nfailed)
			err = simrow_fail(&sum, cx, fail(cx, -EINVAL, "%zu of "
							 "%zu volumes failed",
							 nfailed, n));
		if (!err)
			err = put_run_line(s, cx, &(struct line){
				.run = i, .row = &sum, .volume = "total" });
		simrow_free(&sum);
	}
	table_end(&s->out);
	if (!is_text || !notes)
		return err;
	report_text_block(s->report);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (notes & 1u << i)
			report_text(s->report, "%s", texts[i]);
	return err;
}

enum {
	K_VOLUME, K_POLICY, KIND, K_WRITTEN, K_MOVED, K_RECLAIMED
};

static const struct column kind_columns[] = {
	[K_VOLUME] = { "volume", "VOLUME", VALUE_STRING, 12 },
	[K_POLICY] = { "policy", "POLICY", VALUE_PLAIN, 17 },
	[KIND] = { "kind", "KIND", VALUE_PLAIN, 8 },
	[K_WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 11 },
	[K_MOVED] = { "blocks_moved", "MOVED", VALUE_U64, 11 },
	[K_RECLAIMED] = { "blocks_reclaimed", "RECLAIMED", VALUE_U64, 11 },
};

/* Prints the kinds of blocks that the runs wrote, moved and reclaimed. */
static int put_kinds(struct simreport *s, struct context *cx)
{
	static const char *const names[] = { "data", "node", "DAT", "past",
					     "summary" };
	size_t skip = s->plan->nvolumes == 1, i;
	struct simplan_run run;
	unsigned int k;
	int err = 0;

	table_begin(&s->out, s->report, "kinds", kind_columns + skip,
		    sizeof(kind_columns) / sizeof(kind_columns[0]) - skip);
	for (i = 0; i < s->plan->nruns && !err; i++) {
		const struct simvol_totals *c = &s->rows[i].totals;
		const uint64_t counts[][3] = {
			{ c->written[0], c->moved[0], c->reclaimed[0] },
			{ c->written[1], c->moved[1], c->reclaimed[1] },
			{ c->written[2], c->moved[2], c->reclaimed[2] },
			{ 0, c->held, 0 },
			{ c->summary, 0, c->reclaimed_summary },
		};

		err = simplan_run(s->plan, cx, i, &run);
		for (k = 0; k < sizeof(names) / sizeof(names[0]) && !err; k++) {
			const struct value v[] = {
				[K_VOLUME] = value_string(run.volume_name ?
							  run.volume_name : ""),
				[K_POLICY] = value_string(run.policy->name),
				[KIND] = value_string(names[k]),
				[K_WRITTEN] = value_u64(counts[k][0]),
				[K_MOVED] = value_u64(counts[k][1]),
				[K_RECLAIMED] = value_u64(counts[k][2]),
			};

			if (counts[k][0] || counts[k][1] || counts[k][2])
				table_row(&s->out, v + skip);
		}
	}
	table_end(&s->out);
	return err;
}

int simreport_runs(struct report *r, struct context *cx,
		   const struct simplan *plan, const struct simrow *rows,
		   const char *image)
{
	struct simreport *s = calloc(1, sizeof(*s));
	bool means = false;
	size_t i;
	int err;

	if (!s)
		return fail(cx, -ENOMEM, "results");
	s->report = r;
	s->plan = plan;
	s->rows = rows;
	s->image = image;
	s->csv = plan->options->csv;
	s->numbers = calloc(plan->nseeds, sizeof(*s->numbers));
	if (!s->numbers) {
		err = fail(cx, -ENOMEM, "results");
	} else if (s->csv) {
		add_parameters(s, true);
		add_fields(s, true, true);
		add_heads(s, SEEDS, INTERVAL);
		err = put_runs(s, cx);
	} else {
		err = put_runs_and_totals(s, cx);
		if (!err && !simplan_is_sweep(plan))
			err = put_kinds(s, cx);
		means = plan->nseeds > 1 && !err;
	}
	if (means) {
		add_parameters(s, false);
		add_heads(s, SEEDS, MOST);
		table_begin(&s->out, r, "means", s->columns, s->count);
		for (i = 0; i < plan->nruns && !err; i += plan->nseeds)
			err = put_run_line(s, cx, &(struct line){
				.run = i,
				.stat = simrow_stat(rows + i, plan->nseeds,
							s->numbers) });
		table_end(&s->out);
	}
	free(s->numbers);
	free(s);
	return err;
}
