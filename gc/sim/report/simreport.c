// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is reported of runs.
 *
 * There is one table for what policies are compared by, and one for what kinds of
 * blocks it was.  A sweep has many runs, so the latter is left out, and the means
 * of those that differ by seed follow.
 */
#include "gc/sim/report/simreport.h"

#include <errno.h>
#include <stdlib.h>

#include "gc/sim/report/simtable.h"
#include "out/csv.h"
#include "out/histogram.h"
#include "out/table.h"

#define BUCKETS 16
#define BAR 40

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

static void put_kind(struct table *t, const struct simplan_run *run,
		     const char *kind, const uint64_t counts[3])
{
	const struct value v[] = {
		[K_VOLUME] = value_string(run->volume_name ? run->volume_name : ""),
		[K_POLICY] = value_string(run->policy->name),
		[KIND] = value_string(kind),
		[K_WRITTEN] = value_u64(counts[0]),
		[K_MOVED] = value_u64(counts[1]),
		[K_RECLAIMED] = value_u64(counts[2]),
	};

	if (counts[0] || counts[1] || counts[2])
		table_row(t, run->volume_name ? v : v + 1);
}

static void put_kinds(struct table *t, const struct simplan_run *run,
		      const struct simrow *row)
{
	static const char *const names[] = { "data", "node", "DAT" };
	const struct simvol_totals *c = &row->totals;
	unsigned int k;

	for (k = 0; k < SIMVOL_KINDS; k++)
		put_kind(t, run, names[k],
			 (uint64_t[]){ c->written[k], c->moved[k],
				       c->reclaimed[k] });
	put_kind(t, run, "past", (uint64_t[]){ 0, c->held, 0 });
	put_kind(t, run, "summary",
		 (uint64_t[]){ c->summary, 0, c->reclaimed_summary });
}

void simreport_trace(struct report *r, const struct simtrace *t)
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

/* What is needed to go through all lines of one table. */
struct simreport {
	struct report *report;
	const struct simplan *plan;
	const struct simrow *rows;
	const char *image;
	struct simtable *table;
	struct table out;
};

/* Run number I of the plan, which simplan_open() has tried. */
static int run_of(const struct simreport *s, struct context *cx, size_t i,
		  struct simplan_run *run)
{
	return simplan_run(s->plan, cx, i, run);
}

/* The mean of the runs that differ from run number I by seed only. */
static struct simstat stat_of(const struct simrow *rows, size_t n,
			      double *numbers)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += simrow_number(&rows[i], &numbers[count]);
	return simstat_of(numbers, count);
}

/* The number of run V, of volumes that differ by nothing else from run I. */
static size_t of_volume(const struct simplan *p, size_t i, size_t v)
{
	return i + v * p->npolicies * p->nseeds;
}

/* The sum of all volumes, or what failed; run I is that of the first one. */
static int sum_volumes(const struct simreport *s, struct context *cx, size_t i,
		       struct simrow *sum)
{
	size_t v, failed = 0;

	*sum = (struct simrow){ 0 };
	for (v = 0; v < s->plan->nvolumes; v++) {
		const struct simrow *row = &s->rows[of_volume(s->plan, i, v)];

		if (row->ended)
			simrow_add(sum, row);
		failed += !row->ended;
	}
	if (!failed)
		return 0;
	return simrow_fail(sum, cx,
			   fail(cx, -EINVAL, "%zu of %zu volumes failed",
				failed, s->plan->nvolumes));
}

/* A line for the sum of all volumes, where run I is one of the first volume. */
static int put_total(struct simreport *s, struct context *cx, size_t i)
{
	size_t per_volume = s->plan->npolicies * s->plan->nseeds;
	struct simplan_run run;
	struct simrow sum;
	int err;

	if (i / per_volume % s->plan->nvolumes)
		return 0;
	err = run_of(s, cx, i, &run);
	if (!err)
		err = sum_volumes(s, cx, i, &sum);
	if (err)
		return err;
	simtable_fill(s->table, &(struct simtable_line){
		.run = &run, .row = &sum, .volume = "total" });
	table_row(&s->out, s->table->values);
	simrow_free(&sum);
	return 0;
}

static int put_totals(struct simreport *s, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < s->plan->nruns && !err; i++)
		err = put_total(s, cx, i);
	return err;
}

static int put_run(struct simreport *s, struct context *cx, size_t i)
{
	struct simplan_run run;
	int err = run_of(s, cx, i, &run);

	if (err)
		return err;
	simtable_fill(s->table, &(struct simtable_line){
		.run = &run, .row = &s->rows[i] });
	table_row(&s->out, s->table->values);
	return 0;
}

static void begin_table(struct simreport *s, const char *name)
{
	table_begin(&s->out, s->report, name, s->table->columns,
		    s->table->count);
}

/* What notes are in any row, and whether one has failed. */
static uint32_t notes_of(const struct simreport *s, bool *failed)
{
	uint32_t notes = 0;
	size_t i;

	*failed = false;
	for (i = 0; i < s->plan->nruns; i++) {
		*failed |= !s->rows[i].ended;
		notes |= s->rows[i].notes;
	}
	return notes;
}

static void explain_notes(struct report *r, uint32_t notes)
{
	static const char *const texts[] = {
		"no-victim: no segment became clean while it was measured, so "
		"there is nothing to compare",
		"not-steady: the halves of what was measured differ by more "
		"than 5 %",
		"too-small: what the cleaner needs is more than a tenth of "
		"the room that is left",
	};
	size_t i;

	if (notes)
		report_text_block(r);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (notes & 1u << i)
			report_text(r, "%s", texts[i]);
}

/* In text the totals are lines of the same table. */
static int put_runs(struct simreport *s, struct context *cx)
{
	bool failed, many = s->plan->nvolumes > 1;
	uint32_t notes = notes_of(s, &failed);
	size_t i;
	int err = 0;

	simtable_runs(s->table, s->plan, s->image, notes, failed);
	begin_table(s, "runs");
	for (i = 0; i < s->plan->nruns && !err; i++)
		err = put_run(s, cx, i);
	if (many && !err && !report_is_text(s->report)) {
		table_end(&s->out);
		begin_table(s, "totals");
	}
	if (many && !err)
		err = put_totals(s, cx);
	table_end(&s->out);
	if (report_is_text(s->report))
		explain_notes(s->report, notes);
	return err;
}

static int put_all_kinds(struct simreport *s, struct context *cx)
{
	size_t skip = s->plan->nvolumes == 1, i;
	struct simplan_run run;
	int err = 0;

	table_begin(&s->out, s->report, "kinds", kind_columns + skip,
		    sizeof(kind_columns) / sizeof(kind_columns[0]) - skip);
	for (i = 0; i < s->plan->nruns && !err; i++) {
		err = run_of(s, cx, i, &run);
		if (s->plan->nvolumes == 1)
			run.volume_name = NULL;
		if (!err)
			put_kinds(&s->out, &run, &s->rows[i]);
	}
	table_end(&s->out);
	return err;
}

static int put_means(struct simreport *s, struct context *cx, double *numbers)
{
	size_t n = s->plan->nseeds, i;
	struct simplan_run run;
	struct simstat stat;
	int err = 0;

	simtable_means(s->table, s->plan, s->image);
	begin_table(s, "means");
	for (i = 0; i < s->plan->nruns && !err; i += n) {
		err = run_of(s, cx, i, &run);
		if (err)
			break;
		stat = stat_of(s->rows + i, n, numbers);
		simtable_fill(s->table, &(struct simtable_line){
			.run = &run, .stat = &stat });
		table_row(&s->out, s->table->values);
	}
	table_end(&s->out);
	return err;
}

static int put_csv(struct simreport *s, struct context *cx, struct out *out,
		   double *numbers)
{
	size_t n = s->plan->nseeds, i;
	struct simplan_run run;
	struct simstat stat = { 0 };
	int err = 0;

	simtable_runs(s->table, s->plan, s->image, true, true);
	simtable_add_mean(s->table);
	csv_head(out, s->table->columns, s->table->count);
	for (i = 0; i < s->plan->nruns && !err; i++) {
		err = run_of(s, cx, i, &run);
		if (err)
			break;
		if (i % n == 0)
			stat = stat_of(s->rows + i, n, numbers);
		simtable_fill(s->table, &(struct simtable_line){
			.run = &run, .row = &s->rows[i], .stat = &stat });
		csv_row(out, s->table->columns, s->table->count,
			s->table->values);
	}
	return err;
}

static int put_tables(struct simreport *s, struct context *cx, double *numbers)
{
	int err;

	if (s->plan->options->csv)
		return put_csv(s, cx, s->report->out, numbers);
	err = put_runs(s, cx);
	if (!err && !simplan_is_sweep(s->plan))
		err = put_all_kinds(s, cx);
	if (!err && s->plan->nseeds > 1)
		err = put_means(s, cx, numbers);
	return err;
}

int simreport_runs(struct report *r, struct context *cx,
		   const struct simplan *plan, const struct simrow *rows,
		   const char *image)
{
	struct simreport s = {
		.report = r,
		.plan = plan,
		.rows = rows,
		.image = image,
		.table = calloc(1, sizeof(*s.table)),
	};
	double *numbers = calloc(plan->nseeds, sizeof(*numbers));
	int err = s.table && numbers ? put_tables(&s, cx, numbers) :
				       fail(cx, -ENOMEM, "results");

	free(numbers);
	free(s.table);
	return err;
}
