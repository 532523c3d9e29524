// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Times, and checkpoints by number or time, on the command line.
 *
 * A time without a zone is local, or UTC with --utc, as times are printed.
 */
#include "cli/moment.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/timefmt.h"
#include "cli/option.h"

int moment_parse_time(struct context *cx, const char *text, void *seconds)
{
	static const char *const forms[] = {
		"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
	};
	struct tm tm, given;
	int64_t *to = seconds;
	const char *end;
	size_t i;

	if (timefmt_parse(text, to))
		return 0;
	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		tm = (struct tm){ .tm_isdst = 0 };
		end = strptime(text, forms[i], &tm);
		if (!end || *end)
			continue;
		tm.tm_isdst = -1;
		given = tm;
		*to = cx->utc ? timegm(&tm) : mktime(&tm);
		/* A day that the month does not have becomes another one. */
		if (tm.tm_mday == given.tm_mday)
			return 0;
	}
	return fail(cx, -EINVAL, "'%s' is not a time as 2026-11-20 18:00 or "
		    "2026-11-20T18:00:00Z", text);
}

int moment_parse(struct context *cx, const char *text, void *moment)
{
	uint64_t *to = moment;
	int64_t seconds;
	int err;

	if (!strchr(text, '-'))
		return option_number(cx, "checkpoint", text, MOMENT_TIME - 1,
				     to);
	err = moment_parse_time(cx, text, &seconds);
	if (err)
		return err;
	if (seconds < 0)
		return fail(cx, -EINVAL, "'%s' is before 1970", text);
	*to = MOMENT_TIME | (uint64_t)seconds;
	return 0;
}
