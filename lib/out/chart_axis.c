// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Axes.
 *
 * A step is 1, 2 or 5 times a power of ten, for bytes a power of two, for times
 * what divides the next larger unit.  Ends may be anything that a damaged
 * volume has: there are never more than CHART_TICKS_MAX ticks.
 */
#include "out/chart_axis.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/timefmt.h"

#define MINUTE 60.0
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

double chart_axis_round_up(double v)
{
	int64_t whole;

	if (!(v > -9e15 && v < 9e15))
		return v;	/* is whole */
	whole = (int64_t)v;
	return (double)whole + ((double)whole < v);
}

static double decimal_step(double least)
{
	double power = 1e-6, times;

	while (power * 10 <= least)
		power *= 10;
	times = least / power;
	return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static double binary_step(double least)
{
	double step = 1;

	while (step < least)
		step *= 2;
	return step;
}

static double time_step(double least)
{
	static const double steps[] = {
		1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE,
		10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
		3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY,
		30 * DAY, 60 * DAY, 91 * DAY, 182 * DAY, 365 * DAY,
	};
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (least <= steps[i])
			return steps[i];
	return 365 * DAY * decimal_step(least / (365 * DAY));
}

static double step_of(enum chart_unit unit, double least)
{
	switch (unit) {
	case CHART_TIME:
		return time_step(least);
	case CHART_BYTES:
		return binary_step(least);
	default:
		return decimal_step(least);
	}
}

void chart_axis_ticks(const struct chart_axis *a, unsigned int wanted,
		 struct chart_ticks *t)
{
	double range = a->max - a->min, first;
	unsigned int i;

	t->count = 0;
	t->step = step_of(a->unit, range > 0 ? range / wanted : 1);
	first = chart_axis_round_up(a->min / t->step);
	for (i = 0; i < CHART_TICKS_MAX; i++) {
		double at = (first + i) * t->step;

		if (at > a->max + t->step / 1000)
			break;
		t->at[t->count++] = at;
	}
}

static char *count_text(double v, double step, char buf[CHART_TICK_TEXT])
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };
	size_t unit = 0;

	while (unit < 5 && (v >= 1000 || v <= -1000) && step >= 100) {
		v /= 1000;
		step /= 1000;
		unit++;
	}
	snprintf(buf, CHART_TICK_TEXT, "%.6g%s", v, units[unit]);
	return buf;
}

static char *time_text(double v, double step, char buf[CHART_TICK_TEXT])
{
	char iso[TIMEFMT_ISO_MAX], *t;
	int64_t seconds = v < -9e18 ? INT64_MIN :
			  v > 9e18 ? INT64_MAX : (int64_t)v;

	timefmt_iso(seconds, iso);
	t = strchr(iso, 'T');
	if (step >= DAY)
		snprintf(buf, CHART_TICK_TEXT, "%.*s", (int)(t - iso), iso);
	else
		snprintf(buf, CHART_TICK_TEXT, "%.*s", step >= MINUTE ? 5 : 8,
			 t + 1);
	return buf;
}

char *chart_axis_text(enum chart_unit unit, double v, double step,
		      char buf[CHART_TICK_TEXT])
{
	char size[SIZE_TEXT_MAX];

	switch (unit) {
	case CHART_TIME:
		return time_text(v, step, buf);
	case CHART_BYTES:
		snprintf(buf, CHART_TICK_TEXT, "%s",
			 v < 1 ? "0" : size_format((uint64_t)v, size));
		return buf;
	case CHART_PERCENT:
		snprintf(buf, CHART_TICK_TEXT, "%.4g %%", v);
		return buf;
	default:
		return count_text(v, step, buf);
	}
}
