// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsck.nilfs2 on images with a changed field.
 *
 * With "check" it must say clean (0) or wrong (4), or fail with a message (8),
 * and must find something, unless silent.c has a reason why not.  With "repair"
 * it repairs what it finds, and must hold what repairing.h says.
 */
#include "fieldtool.h"

#include <stdlib.h>
#include <string.h>

#include "repairing.h"

int fsck_main(int argc, char **argv);

struct fieldtool {
	struct repairing repairing;
	bool repair;
};

struct fieldtool *fieldtool_open(struct arena *arena, const char *mode)
{
	struct fieldtool *t;
	bool repair = !strcmp(mode, "repair");

	if (!repair && strcmp(mode, "check"))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		arena_die("memory");
	t->repair = repair;
	repairing_open(&t->repairing, arena, fsck_main);
	return t;
}

void fieldtool_close(struct fieldtool *t)
{
	repairing_close(&t->repairing);
	free(t);
}

/* The change of C, which had no finding. */
static const char *excuse(struct fieldtool_case *c)
{
	const char *reason = silent_reason(&c->change);

	if (!reason)
		return "nothing was found";
	c->excused = true;
	printf("not to be found: %s\n", reason);
	return NULL;
}

/* What only a checksum shows is found by that of a log or a superblock. */
static const char *check(struct fieldtool *t, struct fieldtool_case *c)
{
	const struct checker *checker = &t->repairing.checker;
	char *text;
	int status = checker_run(checker, "-fn", c->sealed ? "--all" : "--data",
				 &text);
	bool found = checker_found_any(text);

	free(text);
	if (status == CHECKER_OPERATIONAL &&
	    arena_complained(checker->arena, "fsck.nilfs2: "))
		return NULL;
	if (status && status != CHECKER_UNCORRECTED)
		return "it ended otherwise than it may";
	return found ? NULL : excuse(c);
}

const char *fieldtool_run(struct fieldtool *t, struct fieldtool_case *c)
{
	return t->repair ? repairing_run(&t->repairing) : check(t, c);
}
