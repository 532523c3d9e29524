// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The result of a run.
 *
 * Write amplification is the number of blocks written to the device over those
 * that the user wrote, even if only to memory.  A run in which no segment
 * became clean would have 1 with any policy, so it has none.
 */
#include "gc/sim/sweep/simrow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct simrow, member)
#define NUMBER(member) .at = AT(member)
#define WIDE(member) .at = AT(member), .wide = true
#define TOTAL(member) \
	.at = AT(totals) + offsetof(struct simvol_totals, member), .wide = true

static struct value row_amplification(const struct simrow *row)
{
	if (!row->ended || row->notes & SIMROW_NOTHING)
		return value_absent();
	return value_ratio(row->written, row->asked);
}

static struct value mean_wear(const struct simrow *row)
{
	return row->ended ? value_ratio(row->wear_sum, row->nsegments) :
			    value_absent();
}

static struct value error_of(const struct simrow *row)
{
	return value_string(row->error);
}

static const struct value_flag notes[] = {
	{ SIMROW_NOTHING, "no-victim" },
	{ SIMROW_UNSTEADY, "not-steady" },
	{ SIMROW_SMALL, "too-small" },
	{ 0 },
};

const struct simrow_field simrow_fields[] = {
	{ { "write_amplification", "WAF", VALUE_RATIO, 7 },
	  .value = row_amplification },
	{ { "blocks_user", "USER", VALUE_U64, 10 }, WIDE(asked) },
	{ { "blocks_written", "WRITTEN", VALUE_U64, 11 }, WIDE(written) },
	{ { "segments_cleaned", "CLEANED", VALUE_U64, 8 }, TOTAL(cleaned) },
	{ { "segments_skipped", "SKIPPED", VALUE_U64, 8 }, TOTAL(skipped) },
	{ { "rounds", "ROUNDS", VALUE_U64, 7 }, TOTAL(rounds) },
	{ { "segments_clean", "CLEAN", VALUE_U64, 6 }, NUMBER(clean) },
	{ { "blocks_moved", NULL, VALUE_U64 }, WIDE(moved) },
	{ { "blocks_filled", NULL, VALUE_U64 }, TOTAL(filled) },
	{ { "half_blocks_user", NULL, VALUE_U64 }, WIDE(half_asked) },
	{ { "half_blocks_written", NULL, VALUE_U64 }, WIDE(half_written) },
	{ { "blocks_before", NULL, VALUE_U64 }, WIDE(before) },
	{ { "blocks_data", NULL, VALUE_U64 }, WIDE(data) },
	{ { "volume_segments", NULL, VALUE_U64 }, NUMBER(nsegments) },
	{ { "segment_blocks", NULL, VALUE_U64 }, NUMBER(blocks),
	  .sum = SIMROW_SAME },
	{ { "wear_least", "WEAR:MIN", VALUE_U64, 5 }, NUMBER(wear_least),
	  .sum = SIMROW_LEAST },
	{ { "wear_mean", "MEAN", VALUE_RATIO, 7 }, .value = mean_wear },
	{ { "wear_most", "MAX", VALUE_U64, 5 }, NUMBER(wear_most),
	  .sum = SIMROW_MOST },
	{ { "wear_sum", NULL, VALUE_U64 }, WIDE(wear_sum) },
	{ { "segments_starved", "STARVED", VALUE_U64, 7 }, NUMBER(starved) },
	{ { "notes", "NOTES", VALUE_FLAGS, 10, notes }, NUMBER(notes),
	  .sum = SIMROW_COMMON },
	{ { "error", "ERROR", VALUE_STRING }, .value = error_of },
	{ { NULL } },
};

void simrow_take(struct simrow *row, const struct simsetup *s)
{
	const struct simrun *run = &s->run;
	const struct simvol *v = run->vol;
	double first, second;
	uint64_t rest;
	unsigned int k;
	uint32_t i;

	*row = (struct simrow){
		.ended = true,
		.totals = simrun_totals(run),
		.asked = simrun_asked(run),
		.half_asked = run->half.user,
		.half_written = run->half.written,
		.data = v->config.data,
		.before = s->before,
		.nsegments = v->config.nsegments,
		.blocks = v->config.blocks,
		.clean = v->nclean,
		.starved = simrun_starved(v),
		.wear_least = UINT32_MAX,
	};
	row->written = simrun_written(&row->totals);
	row->moved = row->totals.held;
	for (k = 0; k < SIMVOL_KINDS; k++)
		row->moved += row->totals.moved[k];
	for (i = 0; i < v->config.nsegments; i++) {
		uint32_t wear = v->wear[i];

		row->wear_sum += wear;
		if (wear < row->wear_least)
			row->wear_least = wear;
		if (wear > row->wear_most)
			row->wear_most = wear;
	}
	/* It is steady if both halves have the same amplification. */
	rest = row->asked - row->half_asked;
	first = (double)row->half_written / (double)row->half_asked;
	second = (double)(row->written - row->half_written) / (double)rest;
	if (!row->totals.released)
		row->notes |= SIMROW_NOTHING;
	else if (!row->half_asked || !rest || !simrow_is_steady(first, second))
		row->notes |= SIMROW_UNSTEADY;
	if (simsetup_is_small(s))
		row->notes |= SIMROW_SMALL;
}

int simrow_fail(struct simrow *row, struct context *cx, int err)
{
	simrow_free(row);
	row->error = strdup(*cx->failure ? cx->failure : strerror(-err));
	fail_clear(cx);
	return row->error ? 0 : fail(cx, -ENOMEM, "results");
}

void simrow_free(struct simrow *row)
{
	free(row->error);
	*row = (struct simrow){ 0 };
}

static uint64_t field_number(const struct simrow *row,
			     const struct simrow_field *field)
{
	const void *p = (const char *)row + field->at;

	return field->wide ? *(const uint64_t *)p : *(const uint32_t *)p;
}

void simrow_set(struct simrow *row, const struct simrow_field *field,
		uint64_t number)
{
	void *p = (char *)row + field->at;

	if (field->wide)
		*(uint64_t *)p = number;
	else
		*(uint32_t *)p = (uint32_t)number;
}

struct value simrow_value(const struct simrow *row,
			  const struct simrow_field *field)
{
	if (field->value)
		return field->value(row);
	return row->ended ? value_u64(field_number(row, field)) : value_absent();
}

void simrow_add(struct simrow *sum, const struct simrow *row)
{
	const struct simrow_field *f;
	uint64_t a, b;

	if (!sum->ended) {
		*sum = *row;
		sum->error = NULL;
		/* One measured volume is enough. */
		sum->notes &= SIMROW_NOTHING;
		return;
	}
	for (f = simrow_fields; f->column.key; f++) {
		if (f->value)
			continue;
		a = field_number(sum, f);
		b = field_number(row, f);
		if (f->sum == SIMROW_SUM)
			b += a;
		else if (f->sum == SIMROW_COMMON)
			b &= a;
		else if ((f->sum == SIMROW_LEAST && a < b) ||
			 (f->sum == SIMROW_MOST && a > b))
			b = a;
		simrow_set(sum, f, b);
	}
}

struct simstat simrow_stat(const struct simrow *rows, size_t n,
			   double *numbers)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		if (row_amplification(&rows[i]).present)
			numbers[count++] = (double)rows[i].written /
					   (double)rows[i].asked;
	return simrow_stat_of(numbers, count);
}

/*
 * Means and their confidence.
 *
 * For whole degrees of freedom the probability that a number of Student's
 * distribution is between -t and t is a finite sum of powers of cos(atan(t /
 * sqrt(degrees))): formulas 26.7.3 and 26.7.4 of Abramowitz and Stegun,
 * Handbook of Mathematical Functions.  So a quantile is found by bisection, and
 * no table is needed.
 */

#define CONFIDENCE 0.95
#define NORMAL 1.959963984540054	/* the quantile of the normal distribution */
/* From here on the quantiles are equal to three decimals. */
#define DEGREES_MAX 10000u
#define STEPS 100
#define PI 3.141592653589793

double simrow_student(size_t degrees)
{
	double low = NORMAL, high = 13;	/* 12.706 for one degree */
	double t, angle, c, term, sum;
	size_t i;
	int step;

	if (degrees > DEGREES_MAX)
		return NORMAL;
	for (step = 0; step < STEPS; step++) {
		t = (low + high) / 2;
		angle = atan(t / sqrt((double)degrees));
		c = cos(angle);
		term = degrees % 2 ? c : 1;
		sum = 0;
		/* Powers 1, 3, ... for odd degrees, 0, 2, ... for even ones. */
		for (i = degrees % 2; i + 2 <= degrees; i += 2) {
			sum += term;
			term *= c * c * (double)(i + 1) / (double)(i + 2);
		}
		sum *= sin(angle);
		/* P(-T < x < T) */
		if (degrees % 2)
			sum = 2 / PI * (angle + sum);
		if (sum < CONFIDENCE)
			low = t;
		else
			high = t;
	}
	return low;
}

struct simstat simrow_stat_of(const double *values, size_t n)
{
	struct simstat s = { .n = n };
	double squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		s.mean += values[i] / (double)n;
		s.least = !i || values[i] < s.least ? values[i] : s.least;
		s.most = !i || values[i] > s.most ? values[i] : s.most;
	}
	for (i = 0; i < n; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	if (n > 1)
		s.interval = simrow_student(n - 1) *
			     sqrt(squares / (double)(n - 1) / (double)n);
	return s;
}

bool simrow_is_steady(double first, double second)
{
	double less = first < second ? first : second;

	return fabs(first - second) <= SIMROW_STEADY * less;
}
