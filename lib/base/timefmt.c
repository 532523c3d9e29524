// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Times as text.
 *
 * gmtime_r() may read the time zone's files and fails for years that do not
 * fit an int; a disk can hold any number.  So the calendar is reckoned here:
 * with years that begin in March the leap day comes last, and days, months
 * and years follow from division in eras of 400 years.
 */
#include "base/timefmt.h"

#include <inttypes.h>
#include <stdio.h>

#define DAY 86400
#define ERA_DAYS 146097		/* days in 400 years */
#define EPOCH_DAYS 719468	/* from 0000-03-01 to 1970-01-01 */

struct date {
	int64_t year;
	unsigned int month, day;
};

static int64_t divide_down(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static struct date date_of(int64_t days)
{
	int64_t era = divide_down(days + EPOCH_DAYS, ERA_DAYS);
	unsigned int day = (unsigned int)(days + EPOCH_DAYS - era * ERA_DAYS);
	unsigned int year = (day - day / 1460 + day / 36524 - day / 146096) /
			    365;
	unsigned int month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	return (struct date){
		.year = era * 400 + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = day - (153 * month + 2) / 5 + 1,
	};
}

char *timefmt_iso(int64_t seconds, char buf[TIMEFMT_ISO_MAX])
{
	int64_t days = divide_down(seconds, DAY);
	unsigned int second = (unsigned int)(seconds - days * DAY);
	struct date date = date_of(days);
	const char *sign = date.year > 9999 ? "+" : date.year < 0 ? "-" : "";

	snprintf(buf, TIMEFMT_ISO_MAX,
		 "%s%04" PRId64 "-%02u-%02uT%02u:%02u:%02uZ", sign,
		 date.year < 0 ? -date.year : date.year, date.month, date.day,
		 second / 3600, second / 60 % 60, second % 60);
	return buf;
}
