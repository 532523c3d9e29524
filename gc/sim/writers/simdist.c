// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random numbers of given distributions, for blocks, sizes and lifetimes of files.
 *
 * All but one are drawn by inverting the distribution function.  Zipf's is
 * drawn by rejection-inversion (Hoermann and Derflinger, "Rejection-inversion
 * to generate variates from monotone discrete distributions", ACM TOMACS 6(3),
 * 1996), which needs no table: a point under the curve x^-skew is chosen by
 * inverting its integral, rounded to a rank, and rejected if it is not under
 * the bar of that rank.
 */
#include "gc/sim/writers/simdist.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS 2u

static const struct {
	const char *name;
	unsigned int parameters;
} kinds[] = {
	[SIMDIST_FIXED] = { "fixed", 1 },
	[SIMDIST_UNIFORM] = { "uniform", 2 },
	[SIMDIST_EXPONENTIAL] = { "exponential", 1 },
	[SIMDIST_LOGNORMAL] = { "lognormal", 2 },
	[SIMDIST_PARETO] = { "pareto", 2 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The maximum of a parameter. */
#define LARGEST 0x1p48

int simdist_number(struct context *cx, const char *option, const char *text,
		   double min, double max, double *value)
{
	char *end;
	double v = strtod(text, &end);

	/* strtod() also accepts blanks, signs, hexadecimal and words. */
	if (end == text || *end || text[strspn(text, "0123456789.")] ||
	    v < min || v > max)
		return fail(cx, -EINVAL, "%s: '%s' is not a number from %.15g "
			    "to %.15g", option, text, min, max);
	*value = v;
	return 0;
}

int simdist_parse(struct context *cx, const char *option, const char *text,
		  struct simdist *d)
{
	size_t len = strcspn(text, ":"), i;
	double *values[PARAMETERS] = { &d->a, &d->b };
	char list[64], *word = list, *rest;
	unsigned int n;
	int err = 0;

	for (i = 0; i < KINDS; i++)
		if (strlen(kinds[i].name) == len &&
		    !strncmp(kinds[i].name, text, len))
			break;
	if (i == KINDS || strlen(text + len) >= sizeof(list))
		return fail(cx, -EINVAL, "%s: '%s' is no distribution; fixed, "
			    "uniform, exponential, lognormal and pareto are",
			    option, text);
	*d = (struct simdist){ .kind = (enum simdist_kind)i };
	snprintf(list, sizeof(list), "%s", text + len + (text[len] == ':'));
	n = kinds[d->kind].parameters;
	for (i = 0; i < n && !err; i++) {
		word = strtok_r(i ? NULL : list, ":", &rest);
		if (!word)
			break;
		err = simdist_number(cx, option, word, i ? 0.001 : 1, LARGEST,
				     values[i]);
	}
	if (err)
		return err;
	if (!word || strtok_r(NULL, ":", &rest))
		return fail(cx, -EINVAL, "%s: '%s' has %u numbers", option,
			    kinds[d->kind].name, n);
	if (d->kind == SIMDIST_UNIFORM && d->a > d->b)
		return fail(cx, -EINVAL, "%s: %g is more than %g", option, d->a,
			    d->b);
	return 0;
}

double simdist_mean(const struct simdist *d)
{
	switch (d->kind) {
	case SIMDIST_FIXED:
	case SIMDIST_EXPONENTIAL:
		break;
	case SIMDIST_UNIFORM:
		return (d->a + d->b) / 2;
	case SIMDIST_LOGNORMAL:
		return d->a * exp(d->b * d->b / 2);
	case SIMDIST_PARETO:
		return d->b > 1 ? d->a * d->b / (d->b - 1) : INFINITY;
	}
	return d->a;
}

uint64_t simdist_next(const struct simdist *d, struct simrandom *r,
		      uint64_t max)
{
	double v = d->a, radius;

	switch (d->kind) {
	case SIMDIST_FIXED:
		break;
	case SIMDIST_UNIFORM:
		v += floor(simrandom_fraction(r) * (d->b - d->a + 1));
		break;
	case SIMDIST_EXPONENTIAL:
		v *= -log(1 - simrandom_fraction(r));
		break;
	case SIMDIST_LOGNORMAL:
		/* Box and Muller, Ann. Math. Stat. 29(2), 1958. */
		radius = sqrt(-2 * log(1 - simrandom_fraction(r)));
		v *= exp(d->b * (radius *
				 cos(2 * M_PI * simrandom_fraction(r))));
		break;
	case SIMDIST_PARETO:
		v *= pow(1 - simrandom_fraction(r), -1 / d->b);
		break;
	}
	if (!(v < (double)max))
		return max;
	return v < 1 ? 1 : (uint64_t)(v + 0.5);
}

/* x^-skew, its integral from 1 to X, and the inverse of that. */
static double zipf_curve(const struct simdist_zipf *z, double x)
{
	return exp(-z->skew * log(x));
}

static double zipf_integral(const struct simdist_zipf *z, double x)
{
	double l = log(x), y = (1 - z->skew) * l;

	/* (exp(y) - 1) / y, also for y near 0. */
	return (fabs(y) > 1e-8 ? expm1(y) / y : 1 + y / 2) * l;
}

static double zipf_inverse(const struct simdist_zipf *z, double area)
{
	double t = area * (1 - z->skew);

	/* Rounding errors of an infinite area. */
	if (t <= -1)
		return z->n;
	/* log(1 + t) / t, also for t near 0. */
	return exp((fabs(t) > 1e-8 ? log1p(t) / t : 1 - t / 2) * area);
}

void simdist_zipf_init(struct simdist_zipf *z, uint64_t n, double skew)
{
	*z = (struct simdist_zipf){ .n = (double)n, .skew = skew };
	/* The bar of the first rank is left of 1.5, as wide as needed. */
	z->first = zipf_integral(z, 1.5) - 1;
	z->last = zipf_integral(z, z->n + 0.5);
	z->shortcut = 2 - zipf_inverse(z, zipf_integral(z, 2.5) - zipf_curve(z, 2));
}

uint64_t simdist_zipf_next(const struct simdist_zipf *z, struct simrandom *r)
{
	double area, x, rank;

	for (;;) {
		area = z->last + simrandom_fraction(r) * (z->first - z->last);
		x = zipf_inverse(z, area);
		rank = floor(x + 0.5);
		if (rank < 1)
			rank = 1;
		else if (rank > z->n)
			rank = z->n;
		if (rank - x <= z->shortcut ||
		    area >= zipf_integral(z, rank + 0.5) - zipf_curve(z, rank))
			return (uint64_t)rank;
	}
}
