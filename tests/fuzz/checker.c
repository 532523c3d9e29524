// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsck.nilfs2 on an image in memory, and what it says.
 *
 * Findings are taken from the lines that users see: each begins with the slug
 * of its rule.
 */
#include "checker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int checker_run(const struct checker *c, const char *mode, const char *more,
		char **textp)
{
	char words[3][128] = { "fsck.nilfs2" };
	char *argv[7] = { words[0], words[1], c->arena->path };
	char *rest = more ? strcpy(words[2], more) : NULL;
	int n = 3, sink = memfd_create("said", 0), text = dup(sink), status;
	off_t size;

	strcpy(words[1], mode);
	while (rest && n < 6)
		argv[n++] = strsep(&rest, " ");
	status = arena_run(c->arena, c->main_of, argv, sink);
	if (arena_complained(c->arena, "fsck.nilfs2: internal error: "))
		status = CHECKER_INTERNAL;
	size = lseek(text, 0, SEEK_END);
	if (textp) {
		*textp = calloc(1, (size_t)size + 1);
		if (!*textp || pread(text, *textp, (size_t)size, 0) != size)
			arena_die("text");
	}
	close(text);
	return status;
}

const struct rule_info *checker_next_rule(const char **at, const char **linep)
{
	const struct rule_info *info = NULL;
	size_t n, i;

	while (**at && !info) {
		if (linep)
			*linep = *at;
		n = strcspn(*at, ":\n");
		for (i = 0; (info = rule_at(i)); i++)
			if (!strncmp(info->slug, *at, n) && !info->slug[n])
				break;
		*at += strcspn(*at, "\n");
		*at += **at == '\n';
	}
	return info;
}

bool checker_found_any(const char *text)
{
	return checker_next_rule(&text, NULL);
}

bool checker_found(const char *text, const struct rule_info *rule)
{
	const struct rule_info *info;

	while ((info = checker_next_rule(&text, NULL))) {
		if (info == rule)
			return true;
	}
	return false;
}
