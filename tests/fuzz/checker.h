/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fsck.nilfs2 on an image in memory, and what it says. */
#ifndef NILFS2_TESTS_FUZZ_CHECKER_H
#define NILFS2_TESTS_FUZZ_CHECKER_H

#include <stdbool.h>

#include "arena.h"
#include "disk/rule.h"

#define CHECKER_CLEAN 0
#define CHECKER_REPAIRED 1
#define CHECKER_UNCORRECTED 4
#define CHECKER_OPERATIONAL 8
#define CHECKER_INTERNAL 255	/* an internal error, which is never right */

struct checker {
	struct arena *arena;
	arena_main *main_of;
};

/*
 * Runs the checker with the options MODE and, if not NULL, MORE, up to three with
 * blanks between them.  Returns its status, and in *TEXTP, if not NULL, what it
 * printed, to be freed.
 */
int checker_run(const struct checker *c, const char *mode, const char *more,
		char **textp);

/*
 * The rule of the finding in the line at *AT, which moves on; NULL at the end.
 * Other lines are left out.  LINEP, if not NULL, is set to that line.
 */
const struct rule_info *checker_next_rule(const char **at, const char **linep);

/* Whether a finding of any rule, or of RULE, stands in TEXT. */
bool checker_found_any(const char *text);
bool checker_found(const char *text, const struct rule_info *rule);

#endif
