// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A check, a repair, another check, and what they must agree in.
 *
 * What a repair changed is found by comparing the image with a copy; it is
 * small, and what that costs is small beside three runs of the checker.
 */
#include "repairing.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "disk/rule.h"
#include "untouched.h"

void repairing_open(struct repairing *m, struct arena *arena,
		    arena_main *main_of)
{
	m->checker = (struct checker){ arena, main_of };
	m->kept = arena_copy(arena);
	m->before = m->after = NULL;
	treesum_take(&m->sound, arena->bytes, arena->size);
}

static void forget(struct repairing *m)
{
	free(m->before);
	free(m->after);
	m->before = m->after = NULL;
}

void repairing_close(struct repairing *m)
{
	forget(m);
	treesum_free(&m->sound);
	free(m->kept);
}

/* The number after the first "checkpoint " of TEXT, or 0. */
static unsigned long checkpoint_in(const char *text)
{
	static const char word[] = "checkpoint ";
	const char *at = text ? strstr(text, word) : NULL;

	return at ? strtoul(at + sizeof(word) - 1, NULL, 10) : 0;
}

/* Whether the finding in LINE is about a checkpoint that is not LATEST. */
static bool is_of_snapshot(const char *line, unsigned long latest)
{
	static const char place[] = ": checkpoint ";

	line += strcspn(line, ":\n");
	return !strncmp(line, place, sizeof(place) - 1) &&
	       checkpoint_in(line) != latest;
}

bool repairing_is_complete(const char *text)
{
	unsigned long latest = checkpoint_in(strstr(text, " files, checkpoint"));
	const struct rule_info *info;
	const char *line;

	while ((info = checker_next_rule(&text, &line))) {
		if (info->severity != RULE_WARNING ||
		    (info->danger != RULE_DANGER_NONE &&
		     !is_of_snapshot(line, latest)))
			return false;
	}
	return true;
}

static bool is_no_worse(const char *before, const char *after)
{
	const struct rule_info *info;

	while ((info = checker_next_rule(&after, NULL))) {
		if (info->severity != RULE_WARNING &&
		    !checker_found(before, info))
			return false;
	}
	return true;
}

static bool is_unharmed(const struct repairing *m)
{
	const struct untouched u = {
		.sound = &m->sound,
		.damaged = m->kept,
		.repaired = m->checker.arena->bytes,
		.size = m->checker.arena->size,
		.found = m->before,
	};

	return untouched_is_held(&u);
}

static const char *judge(const struct repairing *m, int was, int status, int is)
{
	if (status == CHECKER_OPERATIONAL)
		return was == status ? NULL : "the repair failed";
	if (status && status != CHECKER_REPAIRED &&
	    status != CHECKER_UNCORRECTED)
		return "the repair ended otherwise than it may";
	if (is != (status == CHECKER_UNCORRECTED ? CHECKER_UNCORRECTED : 0))
		return "the check after the repair disagrees with it";
	if (status == CHECKER_UNCORRECTED)
		return m->lossy || is_no_worse(m->before, m->after) ?
			       NULL : "it is worse than before";
	if (!repairing_is_complete(m->after))
		return "something is left";
	return !status || m->lossy || is_unharmed(m) ?
		       NULL : "a file changed that was not found";
}

const char *repairing_run(struct repairing *m)
{
	const char *wrong;
	int was, status, is;

	arena_save(m->checker.arena, m->kept);
	was = checker_run(&m->checker, "-fn", NULL, &m->before);
	status = checker_run(&m->checker, "-fy", NULL, NULL);
	is = checker_run(&m->checker, "-fn", NULL, &m->after);
	wrong = judge(m, was, status, is);
	arena_restore(m->checker.arena, m->kept);
	if (wrong)
		printf("check: %d\n%.4000s\nrepair: %d\ncheck: %d\n%.4000s\n",
		       was, m->before, status, is, m->after);
	forget(m);
	return wrong;
}
