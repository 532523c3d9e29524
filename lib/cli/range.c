// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ranges of numbers, for segments and checkpoints.
 *
 * There are only as many as the user typed, so a linear search is sufficient.
 */
#include "cli/range.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option.h"

#define NUMBER_TEXT_MAX 32

/* Parses the number, or time, in the LEN bytes at TEXT; DEFAULT_VALUE if LEN is 0. */
static int parse_end(struct context *cx, const char *what, const char *text,
		     size_t len, bool times, uint64_t default_value,
		     uint64_t *value)
{
	char word[NUMBER_TEXT_MAX];

	*value = default_value;
	if (!len)
		return 0;
	if (len >= sizeof(word))
		return fail(cx, -EINVAL, "%s: invalid range '%s'", what,
			    text);
	memcpy(word, text, len);
	word[len] = '\0';
	/* "5-8" is a mistaken range. */
	if (times && strchr(word, '-') != strrchr(word, '-'))
		return moment_parse(cx, word, value);
	return option_number(cx, what, word, times ? MOMENT_TIME - 1 : UINT64_MAX,
			     value);
}

static int parse_range(struct context *cx, const char *what, const char *text,
		       bool times, struct range *range)
{
	const char *dots = strstr(text, ".."), *dash = strchr(text, '-');
	int err;

	range->met = false;
	if (!dots) {
		err = *text ? parse_end(cx, what, text, strlen(text), times, 0,
					&range->first) :
			      option_number(cx, what, text, 0, &range->first);
		if (err && dash && (!times || dash == strrchr(text, '-')))
			err = fail(cx, -EINVAL,
				   "%s: invalid range '%s': write FIRST..LAST",
				   what, text);
		range->last = range->first;
		return err;
	}
	err = parse_end(cx, what, text, (size_t)(dots - text), times, 0,
			&range->first);
	if (!err)
		err = parse_end(cx, what, dots + 2, strlen(dots + 2), times,
				UINT64_MAX, &range->last);
	if (!err && range->first > range->last &&
	    range_is_time(range->first) == range_is_time(range->last))
		err = fail(cx, -EINVAL, "%s: '%s' ends before it begins", what,
			   text);
	return err;
}

int range_parse(struct context *cx, const char *what, const char *text,
		struct range *range)
{
	return parse_range(cx, what, text, false, range);
}

char *range_text(const struct range *r, char buf[RANGE_TEXT_MAX])
{
	if (r->first == r->last)
		snprintf(buf, RANGE_TEXT_MAX, "%" PRIu64, r->first);
	else if (r->last == UINT64_MAX)
		snprintf(buf, RANGE_TEXT_MAX, "from %" PRIu64 " on", r->first);
	else
		snprintf(buf, RANGE_TEXT_MAX, "from %" PRIu64 " to %" PRIu64,
			 r->first, r->last);
	return buf;
}

int range_parse_set(struct context *cx, const char *what, int count,
		    char **words, struct range_set *set)
{
	int i, err = 0;

	*set = (struct range_set){ .ranges = NULL };
	if (!count)
		return 0;
	set->ranges = calloc((size_t)count, sizeof(*set->ranges));
	if (!set->ranges)
		return fail(cx, -ENOMEM, "list of ranges");
	for (i = 0; i < count && !err; i++)
		err = range_parse(cx, what, words[i], &set->ranges[i]);
	set->count = (size_t)count;
	return err;
}

int range_parse_list(struct context *cx, const char *what, const char *text,
		     struct range_set *set)
{
	char word[2 * NUMBER_TEXT_MAX + 2];
	struct range *grown;
	size_t len;
	int err;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (len >= sizeof(word))
			return fail(cx, -EINVAL, "%s: invalid range '%s'",
				    what, text);
		memcpy(word, text, len);
		word[len] = '\0';
		grown = reallocarray(set->ranges, set->count + 1,
				     sizeof(*grown));
		if (!grown)
			return fail(cx, -ENOMEM, "list of ranges");
		set->ranges = grown;
		err = parse_range(cx, what, word, set->times,
				  &grown[set->count++]);
		if (err || !text[len])
			return err;
	}
}

void range_set_free(struct range_set *set)
{
	free(set->ranges);
	set->ranges = NULL;
	set->count = 0;
}

bool range_has(struct range_set *set, uint64_t number)
{
	bool found = !set->count;
	size_t i;

	for (i = 0; i < set->count; i++) {
		struct range *r = &set->ranges[i];

		if (number < r->first || number > r->last)
			continue;
		r->met = found = true;
	}
	return found;
}

int range_check_met(struct context *cx, const char *what,
		    const struct range_set *set)
{
	char text[RANGE_TEXT_MAX];
	const struct range *r;
	size_t i;

	for (i = 0; i < set->count; i++) {
		r = &set->ranges[i];
		if (r->met)
			continue;
		if (r->first == r->last)
			return fail_said(cx, -ENOENT, "%s %" PRIu64
					 ": does not exist", what, r->first);
		return fail_said(cx, -ENOENT, "%ss %s: none exist", what,
				 range_text(r, text));
	}
	return 0;
}
