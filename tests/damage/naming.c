// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the output of fsck names what was lost.
 *
 * A finding says where the damage was, and other lines what was done about it;
 * neither shows a user which file to restore from a backup.  So only the lines
 * that begin with "lost:" count, and findings where nothing was repaired.
 */
#include "naming.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk/ondisk.h"
#include "disk/rule.h"
#include "state.h"

#define LINE_MAX_BYTES 2048

/* Whether AT, after a word, has NUMBER in a list as " 1, 2 and 3". */
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

/* Whether LINE has "WORDs FIRST to LAST" around NUMBER, or "WORDs from FIRST on"
   before it. */
static bool has_range(const char *line, const char *word, uint64_t number)
{
	const char *at = strstr(line, word);
	uint64_t first, last = UINT64_MAX;

	if (!at)
		return false;
	at += strlen(word);
	return (sscanf(at, "s %" SCNu64 " to %" SCNu64, &first, &last) == 2 ||
		sscanf(at, "s from %" SCNu64 " on", &first) == 1) &&
	       first <= number && number <= last;
}

/* "WORDS NUMBER" in LINE. */
static bool has_words(const char *line, const char *words, uint64_t *number)
{
	const char *at = strstr(line, words);

	return at && sscanf(at + strlen(words), " %" SCNu64, number) == 1;
}

static bool has_checkpoint(const char *line, uint64_t cno)
{
	uint64_t number;

	if (has_words(line, "written after checkpoint", &number))
		return cno > number || strstr(line, "snapshot flags");
	if (has_words(line, "of checkpoints up to", &number))
		return cno <= number;
	return has_number(line, "checkpoint", cno) ||
	       has_number(line, "snapshot", cno) ||
	       has_range(line, "checkpoint", cno);
}

/* Whether LINE is of a name that was removed from the directory at PATH. */
static bool has_entry_of(const char *line, const char *path)
{
	const char *at = strstr(line, ", /"), *end;
	size_t len = strcmp(path, ".") ? strlen(path) : 0;

	end = at ? strstr(at, ": the ") : NULL;
	if (!end || !strstr(end, " was removed"))
		return false;
	at += len ? 3 : 2;
	while (*end != '/')
		end--;
	return (size_t)(end - at) == len && !strncmp(at, path, len);
}

/*
 * Whether LINE is of an inode that has lost its name, and that had one in the
 * directory at N->path of state CNO: nothing else may say which one it was.
 */
static bool has_lost_entry(const struct naming *n, const char *line,
			   uint64_t cno)
{
	const char *at = strstr(line, "inode ");
	char path[STATE_PATH_MAX];
	uint64_t ino;

	if (!strstr(line, ": its former name was removed") || !at ||
	    sscanf(at, "inode %" SCNu64, &ino) != 1)
		return false;
	state_path(n->sound, n->size, cno, ino, n->path, path);
	return *path;
}

static bool has_file(const struct naming *n, const char *line,
		     const struct treesum_file *what)
{
	return has_number(line, "inode", what->ino) ||
	       has_range(line, "inode", what->ino) ||
	       has_number(line, "directory", what->ino) ||
	       (*n->path && (has_entry_of(line, n->path) ||
			     has_lost_entry(n, line, what->cno)));
}

/* Whether LINE, of a loss or a finding, is about WHAT. */
static bool has_name(const struct naming *n, const char *line,
		     const struct treesum_file *what)
{
	uint64_t cno = what->cno ? what->cno : n->latest;
	bool of_file = strstr(line, "inode") || strstr(line, "directory");

	if (!what->ino && !what->cno)
		return strstr(line, "superblock");
	if (!of_file)
		return has_checkpoint(line, cno) ||
		       (what->cno == TREESUM_LATEST &&
			strstr(line, "data written after checkpoint"));
	return what->ino && has_file(n, line, what) &&
	       (what->cno == TREESUM_LATEST || has_checkpoint(line, cno));
}

/* Whether LINE begins with the slug of a rule. */
static bool is_finding(const char *line)
{
	size_t len = strcspn(line, ":"), i;
	const struct rule_info *info;

	for (i = 0; (info = rule_at(i)); i++)
		if (!strncmp(info->slug, line, len) && !info->slug[len])
			return true;
	return false;
}

/* The root directory gets an entry for what has lost its name. */
static bool is_lost_found(const char *line, const struct treesum_file *what)
{
	return what->ino == NILFS_ROOT_INO && strstr(line, "lost+found");
}

static bool counts(const struct naming *n, const char *line)
{
	static const char lost[] = "lost: ";

	return !strncmp(line, lost, sizeof(lost) - 1) ||
	       (n->findings && is_finding(line));
}

bool naming_has(const struct naming *n, const struct treesum_file *what)
{
	const char *at = n->text, *end;
	char line[LINE_MAX_BYTES];

	for (; *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (is_lost_found(line, what) ||
		    (counts(n, line) && has_name(n, line, what)))
			return true;
	}
	return false;
}

/* Whether LINE only says what may be lost. */
static bool is_open(const char *line)
{
	static const char *const words[] = {
		" may ", "perhaps", ", if an", "could not be read",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

unsigned int naming_losses(const char *text, unsigned int *facts)
{
	static const char lost[] = "lost: ";
	char line[LINE_MAX_BYTES];
	unsigned int n = 0;
	size_t len;

	*facts = 0;
	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (strncmp(line, lost, sizeof(lost) - 1) ||
		    !strcmp(line, "lost: nothing"))
			continue;
		n++;
		*facts += !is_open(line);
	}
	return n;
}
