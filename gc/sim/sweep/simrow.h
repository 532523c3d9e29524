/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a run: numbers, from which all that is printed follows. */
#ifndef NILFS2_GC_SIM_SIMROW_H
#define NILFS2_GC_SIM_SIMROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/sim/run/simsetup.h"
#include "out/table.h"

/* Of N numbers. */
struct simstat {
	size_t n;
	double mean, least, most;
	/*
	 * The true mean is within this distance of MEAN with a confidence of
	 * 95 %, as far as numbers are distributed normally; 0 where N < 2.
	 */
	double interval;
};

/* Of VALUES, by Student's distribution of N - 1 degrees of freedom. */
struct simstat simrow_stat_of(const double *values, size_t n);

/*
 * The quantile of Student's distribution (Student, "The probable error of a
 * mean", Biometrika 6(1), 1908) with which 95 % of the numbers are in between
 * its negative and itself.  DEGREES is at least 1.
 */
double simrow_student(size_t degrees);

/* Halves of a steady run differ by this at most, of the smaller one. */
#define SIMROW_STEADY 0.05

bool simrow_is_steady(double first, double second);

/* What is to be known before a number is believed. */
#define SIMROW_NOTHING 1u	/* no segment became clean: nothing measured */
#define SIMROW_UNSTEADY 2u	/* the halves differ: SIMROW_STEADY */
#define SIMROW_SMALL 4u		/* simsetup_is_small() */

struct simrow {
	char *error;		/* owned; NULL: it came to its end */
	bool ended;
	struct simvol_totals totals;
	uint64_t asked, written, moved;
	uint64_t half_asked, half_written;	/* of these, in the first half */
	uint64_t data, before;	/* blocks; written before the measurement */
	uint32_t nsegments, blocks;	/* of the volume, of a segment */
	uint32_t wear_least, wear_most;
	uint64_t wear_sum;	/* over all segments */
	uint32_t clean, starved, notes;
};

/* Takes it from a run that has ended. */
void simrow_take(struct simrow *row, const struct simsetup *s);

/* Takes the failure ERR of CX in its place, which is forgotten.  -ENOMEM. */
int simrow_fail(struct simrow *row, struct context *cx, int err);

void simrow_free(struct simrow *row);

/*
 * Adds ROW, another volume, to SUM, at first all zero: the numbers of
 * simrow_fields, and no other totals.
 */
void simrow_add(struct simrow *sum, const struct simrow *row);

/*
 * Blocks written for one of the user: of N ROWS, without those in which nothing
 * was measured.  NUMBERS has room for all.
 */
struct simstat simrow_stat(const struct simrow *rows, size_t n,
			   double *numbers);

/* What the number of several volumes is, by theirs. */
enum simrow_sum {
	SIMROW_SUM,
	SIMROW_LEAST,
	SIMROW_MOST,
	SIMROW_SAME,
	SIMROW_COMMON,	/* bits */
};

/* What is printed of a row: a number of it, or what follows from some. */
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

/* Sets a FIELD that is a number of the row. */
void simrow_set(struct simrow *row, const struct simrow_field *field,
		uint64_t number);

#endif
