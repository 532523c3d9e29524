// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables.
 *
 * Write amplification is all blocks that reached the device over those that
 * the user wrote, be it only to memory.  There is one table for what policies
 * are compared by, and one for what kinds of blocks it was.
 */
#include "gc/sim/simreport.h"

#include <stdio.h>

#include "out/histogram.h"

void simreport_take(struct simreport_row *row, const struct simrun *run,
		    const char *policy)
{
	const struct simvol *v = run->vol;
	uint32_t i;

	*row = (struct simreport_row){
		.policy = policy,
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

/* A ratio with three digits after the point, in TEXT. */
static struct value ratio(char text[32], uint64_t part, uint64_t whole)
{
	if (!whole)
		return value_absent();
	snprintf(text, 32, "%.3f", (double)part / (double)whole);
	return value_string(text);
}

enum {
	POLICY, AMPLIFICATION, USER, WRITTEN, CLEANED, SKIPPED, ROUNDS, CLEAN,
	LEAST, MEAN, MOST, STARVED
};

static const struct column columns[] = {
	[POLICY] = { "policy", "POLICY", VALUE_PLAIN, 16 },
	[AMPLIFICATION] = { "write_amplification", "WAF", VALUE_PLAIN, 7 },
	[USER] = { "blocks_user", "USER", VALUE_U64, 10 },
	[WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 11 },
	[CLEANED] = { "segments_cleaned", "CLEANED", VALUE_U64, 8 },
	[SKIPPED] = { "segments_skipped", "SKIPPED", VALUE_U64, 8 },
	[ROUNDS] = { "rounds", "ROUNDS", VALUE_U64, 7 },
	[CLEAN] = { "segments_clean", "CLEAN", VALUE_U64, 6 },
	[LEAST] = { "wear_least", "WEAR:MIN", VALUE_U64, 5 },
	[MEAN] = { "wear_mean", "MEAN", VALUE_PLAIN, 7 },
	[MOST] = { "wear_most", "MAX", VALUE_U64, 5 },
	[STARVED] = { "segments_starved", "STARVED", VALUE_U64, 7 },
};

static void put_row(struct table *t, const struct simreport_row *row)
{
	char amplification[32], wear[32];
	struct value v[] = {
		[POLICY] = value_string(row->policy),
		[AMPLIFICATION] = ratio(amplification, row->written,
					row->asked),
		[USER] = value_u64(row->asked),
		[WRITTEN] = value_u64(row->written),
		[CLEANED] = value_u64(row->totals.cleaned),
		[SKIPPED] = value_u64(row->totals.skipped),
		[ROUNDS] = value_u64(row->totals.rounds),
		[CLEAN] = value_u64(row->clean),
		[LEAST] = value_u64(row->wear_least),
		[MEAN] = ratio(wear, row->wear_sum, row->nsegments),
		[MOST] = value_u64(row->wear_most),
		[STARVED] = value_u64(row->starved),
	};

	table_row(t, v);
}

enum {
	K_POLICY, KIND, K_WRITTEN, K_MOVED, K_RECLAIMED
};

static const struct column kind_columns[] = {
	[K_POLICY] = { "policy", "POLICY", VALUE_PLAIN, 16 },
	[KIND] = { "kind", "KIND", VALUE_PLAIN, 8 },
	[K_WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 11 },
	[K_MOVED] = { "blocks_moved", "MOVED", VALUE_U64, 11 },
	[K_RECLAIMED] = { "blocks_reclaimed", "RECLAIMED", VALUE_U64, 11 },
};

static void put_kind(struct table *t, const char *policy, const char *kind,
		     const uint64_t counts[3])
{
	const struct value v[] = {
		[K_POLICY] = value_string(policy),
		[KIND] = value_string(kind),
		[K_WRITTEN] = value_u64(counts[0]),
		[K_MOVED] = value_u64(counts[1]),
		[K_RECLAIMED] = value_u64(counts[2]),
	};

	if (counts[0] || counts[1] || counts[2])
		table_row(t, v);
}

static void put_kinds(struct table *t, const struct simreport_row *row)
{
	static const char *const names[] = { "data", "node", "DAT" };
	const struct simvol_totals *c = &row->totals;
	unsigned int k;

	for (k = 0; k < SIMVOL_KINDS; k++)
		put_kind(t, row->policy, names[k],
			 (uint64_t[]){ c->written[k], c->moved[k],
				       c->reclaimed[k] });
	put_kind(t, row->policy, "past", (uint64_t[]){ 0, c->held, 0 });
	put_kind(t, row->policy, "summary",
		 (uint64_t[]){ c->summary, 0, c->reclaimed_summary });
}

void simreport_put(struct report *r, const struct simreport_row *rows,
		   size_t n)
{
	struct table t;
	size_t i;

	table_begin(&t, r, "runs", columns,
		    sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < n; i++)
		put_row(&t, &rows[i]);
	table_end(&t);
	table_begin(&t, r, "kinds", kind_columns,
		    sizeof(kind_columns) / sizeof(kind_columns[0]));
	for (i = 0; i < n; i++)
		put_kinds(&t, &rows[i]);
	table_end(&t);
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
