// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the output of fsck names what was lost.
 *
 * A finding says where the damage was, and "its map is rebuilt" what was done
 * about it; neither tells a user which file to restore from a backup.  So a
 * line counts only where it has both the name of the thing and a word for what
 * happened to its content.
 */
#include "naming.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk/ondisk.h"
#include "disk/rule.h"

#define LINE_MAX_BYTES 1024

/* Words for content that is gone, or is not the newest. */
static bool says_lost(const char *line)
{
	static const char *const words[] = {
		"lost",
		"given up",
		"removed",
		"hole",
		"zero",
		"stale",
		"older",
		"as of checkpoint",
		"dropped",
		"gone",
		"deleted",
		"corrupt",
		"not what was written",
		"may be wrong",
		"cannot be read",
		"cannot be restored",
		"not restored",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* Whether AT, behind a word, has NUMBER in a list as " 1, 2 and 3". */
static bool lists(const char *at, uint64_t number)
{
	char *end;

	at += *at == 's';
	for (;;) {
		at += strspn(at, " ,");
		if (!strncmp(at, "and ", 4))
			at += 4;
		if (*at < '0' || *at > '9')
			return false;
		if (strtoull(at, &end, 10) == number)
			return true;
		at = end;
	}
}

static bool has_number(const char *line, const char *word, uint64_t number)
{
	const char *at = line;

	while ((at = strstr(at, word))) {
		at += strlen(word);
		if (lists(at, number))
			return true;
	}
	return false;
}

static bool has_file(const struct naming *n, const char *line, uint64_t ino)
{
	if (has_number(line, "inode", ino) ||
	    has_number(line, "directory", ino))
		return true;
	if (ino == NILFS_ROOT_INO)
		return strstr(line, "lost+found") != NULL;
	return *n->path && strstr(line, n->path);
}

static bool has_name(const struct naming *n, const char *line,
		     const struct treesum_file *what)
{
	uint64_t cno = what->cno ? what->cno : n->latest;
	bool checkpoint = has_number(line, "checkpoint", cno);

	if (!what->ino)
		return what->cno ? checkpoint
				 : strstr(line, "superblock") ||
					   strstr(line, "label");
	if (checkpoint && strstr(line, "given up"))
		return true;
	return has_file(n, line, what->ino) &&
	       (checkpoint || what->cno == TREESUM_LATEST);
}

/* Whether LINE begins with the slug of a rule. */
static bool is_finding(const char *line)
{
	size_t len = strcspn(line, ":");
	char slug[64];

	if (len >= sizeof(slug))
		return false;
	memcpy(slug, line, len);
	slug[len] = '\0';
	return rule_find(slug);
}

static bool counts(const struct naming *n, const char *line)
{
	return is_finding(line) ? n->findings || says_lost(line)
				: says_lost(line);
}

bool naming_has(const struct naming *n, const struct treesum_file *what)
{
	const char *at = n->text, *end;
	char line[LINE_MAX_BYTES];

	for (; *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (has_name(n, line, what) && counts(n, line))
			return true;
	}
	return false;
}
