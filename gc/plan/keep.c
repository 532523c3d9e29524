// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule by which checkpoints are kept as snapshots.
 *
 * A period is a number that grows with local time.  Points are sorted by period and
 * then by their own number, so the last one of each run is the newest of a period.
 * Two hours of the same name, when summer time ends, are two periods.
 */
#include "gc/plan/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sort.h"
#include "cli/option.h"

#define DAY 86400

/* The longest name and count. */
#define WORD_MAX 32

const char *const keep_names[KEEP_PERIODS + 1] = {
	"last", "hourly", "daily", "weekly", "monthly", "yearly", NULL,
};

bool keep_is_rule(const struct keep_rule *rule)
{
	size_t i;

	for (i = 0; i < KEEP_PERIODS; i++)
		if (rule->counts[i])
			return true;
	return false;
}

/* Adds WORD, "daily=7", which is changed. */
static int parse_word(struct context *cx, const char *what, char *word,
		      struct keep_rule *rule)
{
	unsigned int least = OPTION_FAR, far;
	char name[WORD_MAX + 64], *count = strchr(word, '=');
	size_t i, nearest = 0;
	uint64_t n;
	int ret;

	if (count)
		*count++ = '\0';
	for (i = 0; i < KEEP_PERIODS; i++) {
		far = option_distance(word, keep_names[i]);
		if (far < least) {
			least = far;
			nearest = i;
		}
	}
	if (least == OPTION_FAR)
		return fail(cx, -EINVAL, "%s: unknown period '%s'; choose last, "
			    "hourly, daily, weekly, monthly, yearly", what, word);
	if (least)
		return fail(cx, -EINVAL, "%s: unknown period '%s': did you mean "
			    "'%s'?", what, word, keep_names[nearest]);
	if (!count)
		return fail(cx, -EINVAL, "%s: '%s' has no count, as in %s=7",
			    what, word, word);
	if (rule->counts[nearest])
		return fail(cx, -EINVAL, "%s: %s is given twice", what, word);
	snprintf(name, sizeof(name), "%s: %s", what, word);
	ret = option_between(cx, name, count, 1, UINT32_MAX, &n);
	if (!ret)
		rule->counts[nearest] = (uint32_t)n;
	return ret;
}

int keep_parse(struct context *cx, const char *what, const char *text,
	       struct keep_rule *rule)
{
	char word[WORD_MAX + 1];
	size_t len;
	int ret;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (!len || len > WORD_MAX)
			return fail(cx, -EINVAL, "%s: '%.*s' is not a period and "
				    "a count, as in daily=7", what, (int)len, text);
		memcpy(word, text, len);
		word[len] = '\0';
		ret = parse_word(cx, what, word, rule);
		if (ret || !text[len])
			return ret;
	}
}

/*
 * Sets KEYS to the periods of P: false if its time is outside the calendar, and only
 * the first key is set.
 */
static bool find_periods(const struct keep_point *p, long (*zone)(int64_t),
			 int64_t keys[KEEP_PERIODS])
{
	int64_t time = (int64_t)p->time, local;
	struct tm tm;
	time_t at;

	keys[KEEP_LAST] = (int64_t)p->cno;
	if (time < 0 ||
	    __builtin_add_overflow(time, zone ? zone(time) : 0, &local))
		return false;
	at = (time_t)local;
	if (at != local || !gmtime_r(&at, &tm))
		return false;
	/* Local time may be up to a day before 1970; divisions round down. */
	keys[KEEP_DAILY] = local / DAY - (local % DAY < 0);
	/* By the moment at which it began. */
	keys[KEEP_HOURLY] = time - (local - keys[KEEP_DAILY] * DAY) % 3600;
	/* 1970 began with a Thursday. */
	keys[KEEP_WEEKLY] = (keys[KEEP_DAILY] + 3) / 7;
	keys[KEEP_MONTHLY] = (int64_t)tm.tm_year * 12 + tm.tm_mon;
	keys[KEEP_YEARLY] = tm.tm_year;
	return true;
}

/* A point in one period. */
struct slot {
	int64_t period;
	size_t at;
};

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return sort_order(x->period, y->period) ?: sort_order(x->at, y->at);
}

int keep_choose(struct context *cx, const struct keep_rule *rule,
		long (*zone)(int64_t seconds), struct keep_point *points,
		size_t n)
{
	struct slot *slots = malloc((n ? n : 1) * sizeof(*slots));
	int64_t keys[KEEP_PERIODS];
	size_t i, count;
	uint32_t left;
	int kind;

	if (!slots)
		return fail(cx, -ENOMEM, "periods of checkpoints");
	for (kind = 0; kind < KEEP_PERIODS; kind++) {
		left = rule->counts[kind];
		for (count = 0, i = 0; left && i < n; i++) {
			if (points[i].minor && i &&
			    points[i - 1].cno == points[i].cno - 1)
				continue;
			if (find_periods(&points[i], zone, keys) ||
			    kind == KEEP_LAST)
				slots[count++] = (struct slot){ keys[kind], i };
		}
		sort_in_place(slots, count, sizeof(*slots), compare_slots);
		for (i = count; left && i-- > 0;) {
			if (i + 1 < count && slots[i].period == slots[i + 1].period)
				continue;
			points[slots[i].at].periods |= (uint8_t)(1u << kind);
			left--;
		}
	}
	free(slots);
	return 0;
}
