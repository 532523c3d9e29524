/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several runs, or the halves of one, say together. */
#ifndef NILFS2_GC_SIM_SIMSTAT_H
#define NILFS2_GC_SIM_SIMSTAT_H

#include <stdbool.h>
#include <stddef.h>

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
struct simstat simstat_of(const double *values, size_t n);

/*
 * The quantile of Student's distribution (Student, "The probable error of a
 * mean", Biometrika 6(1), 1908) with which 95 % of the numbers are in between
 * its negative and itself.  DEGREES is at least 1.
 */
double simstat_student(size_t degrees);

/* Halves of a steady run differ by this at most, of the smaller one. */
#define SIMSTAT_STEADY 0.05

bool simstat_is_steady(double first, double second);

#endif
