// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Means and how far they can be trusted.
 *
 * For whole degrees of freedom the probability that a number of Student's
 * distribution is between -t and t is a finite sum of powers of cos(atan(t /
 * sqrt(degrees))): formulas 26.7.3 and 26.7.4 of Abramowitz and Stegun, Handbook
 * of Mathematical Functions.  So a quantile is found by halving an interval, and
 * no table is needed.
 */
#include "gc/sim/sweep/simstat.h"

#include <math.h>

#define CONFIDENCE 0.95
#define NORMAL 1.959963984540054	/* the quantile without end */
/* From here on a quantile is that to three decimals. */
#define DEGREES_MAX 10000u
#define STEPS 100
#define PI 3.141592653589793

/* P(-T < x < T). */
static double student_within(double t, size_t degrees)
{
	double angle = atan(t / sqrt((double)degrees));
	double c = cos(angle), term = degrees % 2 ? c : 1, sum = 0;
	size_t i;

	/* Powers 1, 3, ... of odd degrees, 0, 2, ... of even ones. */
	for (i = degrees % 2; i + 2 <= degrees; i += 2) {
		sum += term;
		term *= c * c * (double)(i + 1) / (double)(i + 2);
	}
	sum *= sin(angle);
	return degrees % 2 ? 2 / PI * (angle + sum) : sum;
}

double simstat_student(size_t degrees)
{
	double low = NORMAL, high = 13;	/* 12.706 of one degree */
	int i;

	if (degrees > DEGREES_MAX)
		return NORMAL;
	for (i = 0; i < STEPS; i++) {
		double t = (low + high) / 2;

		if (student_within(t, degrees) < CONFIDENCE)
			low = t;
		else
			high = t;
	}
	return low;
}

struct simstat simstat_of(const double *values, size_t n)
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
		s.interval = simstat_student(n - 1) *
			     sqrt(squares / (double)(n - 1) / (double)n);
	return s;
}

bool simstat_is_steady(double first, double second)
{
	double less = first < second ? first : second;

	return fabs(first - second) <= SIMSTAT_STEADY * less;
}
