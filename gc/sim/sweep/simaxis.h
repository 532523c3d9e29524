/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of one option that a sweep goes through. */
#ifndef NILFS2_GC_SIM_SIMAXIS_H
#define NILFS2_GC_SIM_SIMAXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "cli/option.h"

#define SIMAXIS_ITEMS_MAX 100000u

struct simaxis {
	char *name;		/* of the option */
	char **items;		/* its arguments, in order */
	size_t count, room;
};

/*
 * Reads "NAME=LIST".  LIST has words with commas between them; one of the form
 * FIRST:LAST or FIRST:LAST:STEP, of decimal numbers with the same letters after
 * each, stands for all numbers FIRST, FIRST + STEP, ... up to LAST.  -EINVAL with
 * the failure text, -ENOMEM; to be freed also then.
 */
int simaxis_parse(struct simaxis *a, struct context *cx, const char *text);

/* Adds the words and ranges of such a LIST. */
int simaxis_add(struct simaxis *a, struct context *cx, const char *list);

void simaxis_free(struct simaxis *a);

/*
 * Puts the words of the row's argument in the place of the word "all", where
 * there is one, and sets *HAS_ALL then.
 */
int simaxis_expand(struct simaxis *a, struct context *cx,
		   const struct cli_option *row, bool *has_all);

#endif
