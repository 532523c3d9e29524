// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sweeps: the quantile of Student's distribution by its definition, means,
 * steadiness, lists and ranges.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "gc/sim/sweep/simplan.h"
#include "gc/sim/sweep/simrow.h"

#include "tap.h"

#define PARTS 20000

static struct context cx;

/* The density of Student's distribution. */
static double density(double t, double degrees)
{
	return exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) /
	       sqrt(degrees * 3.14159265358979) *
	       pow(1 + t * t / degrees, -(degrees + 1) / 2);
}

/* Its integral from -TO to TO, by Simpson's rule. */
static double integral(double to, double degrees)
{
	double step = to / PARTS, sum = density(0, degrees) +
					density(to, degrees);
	int i;

	for (i = 1; i < PARTS; i++)
		sum += density(i * step, degrees) * (i % 2 ? 4 : 2);
	return 2 * sum * step / 3;
}

static void test_student(void)
{
	static const size_t degrees[] = { 1, 2, 3, 4, 5, 10, 29, 30, 100,
					  9999, 20000 };
	size_t i;

	for (i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
		double t = simrow_student(degrees[i]);

		ok(fabs(integral(t, (double)degrees[i]) - 0.95) < 2e-5,
		   "95 %% are within %.4f of %zu degrees", t, degrees[i]);
	}
}

static void test_means(void)
{
	const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct simstat s = simrow_stat_of(values, 8);

	/* The sum of squared distances is 32, of 7 degrees. */
	ok(fabs(s.mean - 5) < 1e-12 && s.least == 2 && s.most == 9,
	   "mean, least, most");
	ok(fabs(s.interval - simrow_student(7) * sqrt(32. / 7 / 8)) < 1e-9,
	   "the interval");
	s = simrow_stat_of(values, 1);
	ok(s.n == 1 && s.mean == 2 && s.interval == 0, "of one number");
	s = simrow_stat_of(values + 1, 3);
	ok(s.interval == 0 && s.mean == 4, "of equal ones");
	ok(simrow_stat_of(values, 0).n == 0, "of none");
}

static void test_steady(void)
{
	ok(simrow_is_steady(2, 2.09) && simrow_is_steady(2.09, 2),
	   "within 5 %%");
	ok(!simrow_is_steady(2, 2.11) && !simrow_is_steady(2.11, 2),
	   "not within");
}

/* The values of TEXT with blanks between them, or what is wrong. */
static const char *values_of(const char *text)
{
	static char all[512];
	struct simaxis a;
	size_t i;
	int err = simplan_axis_parse(&a, &cx, text);

	*all = '\0';
	for (i = 0; i < a.count && !err; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 i ? " " : "", a.items[i]);
	simplan_axis_free(&a);
	return err ? cx.failure : all;
}

static void test_ranges(void)
{
	is_str(values_of("fill=50:65:5"), "50 55 60 65", "a range");
	is_str(values_of("fill=50:64:5"), "50 55 60", "one that ends before");
	is_str(values_of("n=7:9"), "7 8 9", "by one");
	is_str(values_of("n=7,1:2,9"), "7 1 2 9", "a list with a range");
	is_str(values_of("skew=0.1:0.5:0.1"), "0.1 0.2 0.3 0.4 0.5",
	       "of decimals, the last one too");
	is_str(values_of("skew=0.9:1.2:0.15"), "0.90 1.05 1.20",
	       "as many decimals as the finest has");
	is_str(values_of("s=1M:3M:1M"), "1M 2M 3M", "with letters");
	is_str(values_of("s=1M:3K:1M"), "1M:3K:1M", "other ones are a word");
	is_str(values_of("x=uniform:1:64,a"), "uniform:1:64 a",
	       "words with colons");
	is_str(values_of("n=9:7"), "--sweep: n: '9:7' is a range without "
	       "numbers", "an empty range");
	is_str(values_of("n=1:7:0"), "--sweep: n: '1:7:0' is a range without "
	       "numbers", "a range that goes nowhere");
	is_str(values_of("n=1:100001"), "--sweep: n has more than 100000 values",
	       "too many");
	is_str(values_of("n=1,"), "--sweep: n: a value is missing", "a gap");
	is_str(values_of("n"), "--sweep: 'n' is not OPTION=VALUES", "no values");
	is_str(values_of("=1"), "--sweep: '=1' is not OPTION=VALUES",
	       "no option");
}

int main(void)
{
	context_init(&cx);
	test_student();
	test_means();
	test_steady();
	test_ranges();
	return tap_done();
}
