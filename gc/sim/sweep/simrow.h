/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run: the numbers from which all output is computed. */
#ifndef NILFS2_GC_SIM_SIMROW_H
#define NILFS2_GC_SIM_SIMROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/sim/run/simsetup.h"
#include "out/table.h"

/* Statistics of N numbers. */
struct simstat {
	size_t n;
	double mean, least, most;
	/*
	 * The true mean is within this distance of MEAN with a confidence of 95
	 * %, if numbers are distributed normally; 0 if N < 2.
	 */
	double interval;
};

/*
 * The statistics of VALUES, by Student's distribution of N - 1 degrees of
 * freedom.
 */
struct simstat simrow_stat_of(const double *values, size_t n);

/*
 * The quantile of Student's distribution (Student, "The probable error of a
 * mean", Biometrika 6(1), 1908): 95 % of the numbers are between its negative
 * and itself.  DEGREES is at least 1.
 */
double simrow_student(size_t degrees);

/*
 * The halves of a steady run differ by at most this share of the smaller one.
 */
#define SIMROW_STEADY 0.05

bool simrow_is_steady(double first, double second);

/* Restrictions on the validity of a result. */
#define SIMROW_NOTHING 1u	/* no segment became clean: no result */
#define SIMROW_UNSTEADY 2u	/* the halves differ: SIMROW_STEADY */
#define SIMROW_SMALL 4u		/* simsetup_is_small() */

struct simrow {
	char *error;		/* owned; NULL: completed */
	bool ended;
	struct simvol_totals totals;
	uint64_t asked, written, moved;
	uint64_t half_asked, half_written;	/* of these, in the first half */
	uint64_t data, before;	/* blocks; BEFORE: written before the measurement */
	uint32_t nsegments, blocks;	/* of the volume, per segment */
	uint32_t wear_least, wear_most;
	uint64_t wear_sum;	/* over all segments */
	uint32_t clean, starved, notes;
};

/* Sets ROW to the result of a completed run. */
void simrow_take(struct simrow *row, const struct simsetup *s);

/* Sets ROW to the failure ERR of CX, which is cleared.  -ENOMEM. */
int simrow_fail(struct simrow *row, struct context *cx, int err);

void simrow_free(struct simrow *row);

/*
 * Adds ROW, another volume, to SUM, at first all zero: only the numbers of
 * simrow_fields.
 */
void simrow_add(struct simrow *sum, const struct simrow *row);

/*
 * Statistics of the write amplification of N ROWS, without those that have no
 * result.  NUMBERS has room for all.
 */
struct simstat simrow_stat(const struct simrow *rows, size_t n,
			   double *numbers);

/* How the numbers of several volumes are combined. */
enum simrow_sum {
	SIMROW_SUM,
	SIMROW_LEAST,
	SIMROW_MOST,
	SIMROW_SAME,
	SIMROW_COMMON,	/* the common bits */
};

/* A column of a row: a number, or a value computed from several. */
struct simrow_field {
	struct column column;
	size_t at;		/* in struct simrow */
	bool wide;		/* 64 bits, not 32 */
	enum simrow_sum sum;
	struct value (*value)(const struct simrow *row);	/* or NULL */
};

extern const struct simrow_field simrow_fields[];	/* no key at the end */

struct value simrow_value(const struct simrow *row,
			  const struct simrow_field *field);

/* Sets FIELD, which is a number of the row. */
void simrow_set(struct simrow *row, const struct simrow_field *field,
		uint64_t number);

#endif
