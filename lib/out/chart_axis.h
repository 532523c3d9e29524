/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the ticks of an axis are, and their texts. */
#ifndef NILFS2_OUT_CHART_AXIS_H
#define NILFS2_OUT_CHART_AXIS_H

#include "out/chart.h"

#define CHART_TICKS_MAX 16
#define CHART_TICK_TEXT 96

struct chart_ticks {
	unsigned int count;
	double at[CHART_TICKS_MAX];
	double step;
};

/* About WANTED round numbers between both ends of an axis. */
void chart_axis_ticks(const struct chart_axis *a, unsigned int wanted,
		 struct chart_ticks *t);

/* The least whole number that is not less than V. */
double chart_axis_round_up(double v);

/* Writes the number V at a tick of distance STEP and returns BUF. */
char *chart_axis_text(enum chart_unit unit, double v, double step,
		      char buf[CHART_TICK_TEXT]);

#endif
