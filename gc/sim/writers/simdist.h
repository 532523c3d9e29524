/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions of random numbers, for sizes and lifetimes of files, and of
 * blocks by popularity.
 *
 * Numbers are the same for the same seed, except for different rounding of
 * mathematical functions on other machines.
 */
#ifndef NILFS2_GC_SIM_SIMDIST_H
#define NILFS2_GC_SIM_SIMDIST_H

#include <stdint.h>

#include "base/context.h"
#include "gc/sim/writers/simrandom.h"

enum simdist_kind {
	SIMDIST_FIXED,		/* A */
	SIMDIST_UNIFORM,	/* A ... B, whole numbers */
	SIMDIST_EXPONENTIAL,	/* of mean A */
	SIMDIST_LOGNORMAL,	/* of median A; B is the deviation of the
				   logarithm */
	SIMDIST_PARETO,		/* from A on; B is the exponent of the tail */
};

struct simdist {
	enum simdist_kind kind;
	double a, b;
};

/*
 * Reads "fixed:8", "uniform:1:64", "exponential:100", "lognormal:16:1.5" or
 * "pareto:1:1.2".  -EINVAL with the failure text "OPTION: ...".
 */
int simdist_parse(struct context *cx, const char *option, const char *text,
		  struct simdist *d);

/* Parses a decimal number from MIN to MAX, with the same failure text. */
int simdist_number(struct context *cx, const char *option, const char *text,
		   double min, double max, double *value);

/* The mean, without a maximum; it may be INFINITY. */
double simdist_mean(const struct simdist *d);

/* The next one, a whole number from 1 to MAX. */
uint64_t simdist_next(const struct simdist *d, struct simrandom *r,
		      uint64_t max);

/* Ranks 1 ... N; the probability of K is proportional to 1 / K^SKEW. */
struct simdist_zipf {
	double n, skew;
	double first, last, shortcut;
};

/* N is at least 1, SKEW at least 0. */
void simdist_zipf_init(struct simdist_zipf *z, uint64_t n, double skew);

/* The next one. */
uint64_t simdist_zipf_next(const struct simdist_zipf *z, struct simrandom *r);

#endif
