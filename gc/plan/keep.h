/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule by which checkpoints are kept as snapshots: the newest one of each of the
 * last hours, days, weeks, months and years.  Pure functions.
 */
#ifndef NILFS2_GC_KEEP_H
#define NILFS2_GC_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

enum keep_period {
	KEEP_LAST,		/* each checkpoint is a period of its own */
	KEEP_HOURLY,
	KEEP_DAILY,
	KEEP_WEEKLY,		/* of ISO 8601, from Monday on */
	KEEP_MONTHLY,
	KEEP_YEARLY,
	KEEP_PERIODS,
};

/* As options name them; NULL at the end. */
extern const char *const keep_names[KEEP_PERIODS + 1];

/* How many periods of each kind; all 0: there is no rule. */
struct keep_rule {
	uint32_t counts[KEEP_PERIODS];
};

bool keep_is_rule(const struct keep_rule *rule);

/*
 * Adds the counts of TEXT, as "daily=7,weekly=4", to *RULE.  -EINVAL, with a text
 * that begins with "WHAT: ", for an unknown or repeated period and a bad count.
 */
int keep_parse(struct context *cx, const char *what, const char *text,
	       struct keep_rule *rule);

/* A checkpoint. */
struct keep_point {
	uint64_t cno;
	uint64_t time;		/* of its creation, in seconds since 1970 */
	bool minor;		/* no file differs from the checkpoint before */
	bool recorded;		/* an earlier run of the rule made it a snapshot */
	uint8_t periods;	/* bits of enum keep_period for which it is chosen */
	uint8_t fate;		/* for the caller */
};

/*
 * Sets PERIODS of the N points, ascending by number.  Of each kind the last periods
 * that have a checkpoint count, by time; the newest checkpoint of a period is that
 * with the highest number, whatever the clock was.  A minor checkpoint does not
 * count if the one before exists.  ZONE returns the offset from UTC at a time; NULL:
 * UTC.  -ENOMEM.
 */
int keep_choose(struct context *cx, const struct keep_rule *rule,
		long (*zone)(int64_t seconds), struct keep_point *points,
		size_t n);

#endif
