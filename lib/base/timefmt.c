// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Times as text.
 *
 * gmtime_r() may read the time zone files and fails for years that do not fit an
 * int; a disk can contain any number.  So the calendar is computed here: in years
 * that begin in March the leap day is last, and days, months and years follow from
 * division in eras of 400 years.
 */
#include "config.h"

#include "base/timefmt.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#define DAY 86400
#define ERA_DAYS 146097	  /* days in 400 years */
#define EPOCH_DAYS 719468 /* from 0000-03-01 to 1970-01-01 */

/* Writes V < 100 as two digits. */
static char *put_two(char *to, unsigned int v)
{
	to[0] = (char)('0' + v / 10);
	to[1] = (char)('0' + v % 10);
	return to + 2;
}

/* Does not use printf(), since a listing has a time per line. */
char *timefmt_iso(int64_t seconds, char buf[TIMEFMT_ISO_MAX])
{
	/* Rounded down, also before 1970 and before the year 0. */
	int64_t days = seconds / DAY - (seconds % DAY < 0);
	int64_t since = days + EPOCH_DAYS, full;
	int64_t era = since / ERA_DAYS - (since % ERA_DAYS < 0);
	unsigned int second = (unsigned int)(seconds - days * DAY);
	unsigned int day = (unsigned int)(since - era * ERA_DAYS);
	unsigned int year =
		(day - day / 1460 + day / 36524 - day / 146096) / 365;
	unsigned int month, digits = 4, i;
	uint64_t v, rest;
	char *to = buf;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day = day - (153 * month + 2) / 5 + 1;
	full = era * 400 + year + (month >= 10);
	month = month < 10 ? month + 3 : month - 9;

	/* A year has a sign if it is negative or has more than four digits. */
	if (full >= 0 && full <= 9999) {
		to = put_two(to, (unsigned int)full / 100);
		to = put_two(to, (unsigned int)full % 100);
	} else {
		v = (uint64_t)(full < 0 ? -full : full);
		for (rest = v / 10000; rest; rest /= 10)
			digits++;
		*to++ = full < 0 ? '-' : '+';
		for (i = digits; i-- > 0; v /= 10)
			to[i] = (char)('0' + v % 10);
		to += digits;
	}
	*to++ = '-';
	to = put_two(to, month);
	*to++ = '-';
	to = put_two(to, day);
	*to++ = 'T';
	to = put_two(to, second / 3600);
	*to++ = ':';
	to = put_two(to, second / 60 % 60);
	*to++ = ':';
	to = put_two(to, second % 60);
	*to++ = 'Z';
	*to = '\0';
	return buf;
}

char *timefmt_zone(int64_t seconds, long offset, char buf[TIMEFMT_ISO_MAX])
{
	long minutes = offset / 60, size = minutes < 0 ? -minutes : minutes;
	int64_t local;
	char *to;

	/* At the limits of the type there is no time in another zone. */
	if (size >= 6000 ||
	    __builtin_add_overflow(seconds, (int64_t)minutes * 60, &local)) {
		minutes = size = 0;
		local = seconds;
	}
	timefmt_iso(local, buf);
	*strchr(buf, 'T') = ' ';
	to = strchr(buf, 'Z');
	*to++ = ' ';
	*to++ = minutes < 0 ? '-' : '+';
	to = put_two(to, (unsigned int)size / 60);
	to = put_two(to, (unsigned int)size % 60);
	*to = '\0';
	return buf;
}

bool timefmt_parse(const char *text, int64_t *seconds)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	long offset = 0;
	int i;

	if (!end) {
		tm = (struct tm){ 0 };
		end = strptime(text, "%Y-%m-%d %H:%M:%S ", &tm);
		if (!end || (*end != '+' && *end != '-'))
			return false;
		/* The offset is HHMM. */
		for (i = 1; i <= 4; i++)
			if (!isdigit((unsigned char)end[i]))
				return false;
		if (end[3] > '5')
			return false;
		offset = ((end[1] - '0') * 10L + end[2] - '0') * 3600 +
			 ((end[3] - '0') * 10L + end[4] - '0') * 60;
		offset = *end == '-' ? -offset : offset;
		end += 5;
	}
	if (*end)
		return false;
	*seconds = timegm(&tm) - offset;
	return true;
}
