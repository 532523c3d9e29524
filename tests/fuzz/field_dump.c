// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 on images with a changed field: each with the command whose turn it
 * is, or, with "read-all", with all of them.
 */
#include "fieldtool.h"

#include <stdlib.h>
#include <string.h>

#include "reading.h"

struct fieldtool {
	struct arena *arena;
	bool all;
};

struct fieldtool *fieldtool_open(struct arena *arena, const char *mode)
{
	struct fieldtool *t;
	bool all = !strcmp(mode, "read-all");

	if (!all && strcmp(mode, "read"))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		arena_die("memory");
	*t = (struct fieldtool){ .arena = arena, .all = all };
	return t;
}

void fieldtool_close(struct fieldtool *t)
{
	free(t);
}

const char *fieldtool_run(struct fieldtool *t, struct fieldtool_case *c)
{
	size_t n = reading_count(), i;
	const char *wrong = NULL;

	if (!t->all)
		return reading_run(t->arena, c->number % n);
	for (i = 0; i < n && !wrong; i++)
		wrong = reading_run(t->arena, i);
	return wrong;
}
