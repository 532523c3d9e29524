/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranges of numbers as the command line spells them. */
#ifndef NILFS2_CLI_RANGE_H
#define NILFS2_CLI_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct range {
	uint64_t first, last;	/* both included */
	bool met;		/* range_has() found a number in it */
};

#define RANGE_TEXT_MAX 64

/* Writes R in words, as in "from 5 to 8", and returns BUF. */
char *range_text(const struct range *r, char buf[RANGE_TEXT_MAX]);

/* Some of all numbers; those of every range, or all where there is none. */
struct range_set {
	struct range *ranges;
	size_t count;
};

/*
 * Reads "N", "A..B", "A.." or "..B", the form of rmcp(8).  -EINVAL with the
 * text "WHAT: ..." for anything else.
 */
int range_parse(struct context *cx, const char *what, const char *text,
		struct range *range);

/*
 * Reads COUNT words.  *SET is freed with range_set_free(), after a failure
 * too.  -EINVAL, -ENOMEM.
 */
int range_parse_set(struct context *cx, const char *what, int count,
		    char **words, struct range_set *set);

/* Adds the ranges of TEXT, with commas between them.  Fails the same way. */
int range_parse_list(struct context *cx, const char *what, const char *text,
		     struct range_set *set);

void range_set_free(struct range_set *set);

/* Whether NUMBER is in one of SET; those that it is in are met. */
bool range_has(struct range_set *set, uint64_t number);

/*
 * -ENOENT where a range was not met by any of the numbers that there are, called
 * WHAT in the text.
 */
int range_check_met(struct context *cx, const char *what,
		    const struct range_set *set);

#endif
