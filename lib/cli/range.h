/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranges of numbers on the command line. */
#ifndef NILFS2_CLI_RANGE_H
#define NILFS2_CLI_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "cli/moment.h"

struct range {
	uint64_t first, last;	/* both included; see range_is_time() */
	bool met;		/* range_has() found a number in it */
};

#define RANGE_TEXT_MAX 64

/* Writes R in words, as in "from 5 to 8", and returns BUF. */
char *range_text(const struct range *r, char buf[RANGE_TEXT_MAX]);

/* A set of ranges; an empty set contains all numbers. */
struct range_set {
	struct range *ranges;
	size_t count;
	/* Times may be given, too, as by moment_parse(): set before range_parse_list(). */
	bool times;
};

/* Whether an end of a range of such a set has MOMENT_TIME. */
static inline bool range_is_time(uint64_t end)
{
	return end != UINT64_MAX && end & MOMENT_TIME;
}

/*
 * Parses "N", "A..B", "A.." or "..B", the form of rmcp(8).  -EINVAL with the text
 * "WHAT: ..." otherwise.
 */
int range_parse(struct context *cx, const char *what, const char *text,
		struct range *range);

/*
 * Parses COUNT words.  *SET must be freed with range_set_free(), even after a failure.
 * -EINVAL, -ENOMEM.
 */
int range_parse_set(struct context *cx, const char *what, int count,
		    char **words, struct range_set *set);

/* Adds the ranges of TEXT, separated by commas.  Fails in the same way. */
int range_parse_list(struct context *cx, const char *what, const char *text,
		     struct range_set *set);

void range_set_free(struct range_set *set);

/* Whether NUMBER is in SET; marks the ranges that contain it as met. */
bool range_has(struct range_set *set, uint64_t number);

/*
 * -ENOENT if no existing number was in one of the ranges; the text calls the objects
 * WHAT.
 */
int range_check_met(struct context *cx, const char *what,
		    const struct range_set *set);

#endif
