// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether a repair left alone what nothing was found of.
 *
 * Files are named by number alone: what a snapshot shares with the latest
 * checkpoint is reported for one of them.
 */
#include "untouched.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checker.h"
#include "disk/ondisk.h"

/* Whether LINE has WORDS in its place, which stands after the slug. */
static bool has_place(const char *line, const char *words)
{
	const char *end = line + strcspn(line, "\n");
	const char *at = strstr(line, words);

	return at && at < end;
}

/* Whether LINE names "WORD NUMBER", and no longer number. */
static bool has_number(const char *line, const char *word, uint64_t number)
{
	char words[64];

	snprintf(words, sizeof(words), ": %s %" PRIu64 ":", word, number);
	return has_place(line, words);
}

/* Another super root, with another latest checkpoint; or a list cut short. */
static bool names_all(const struct rule_info *info, const char *line,
		      const struct treesum_file *file)
{
	return (info->fix == RULE_FIX_ROOT && file->cno == TREESUM_LATEST) ||
	       has_place(line, " more of these");
}

/* The root directory gets another entry for what has none. */
static bool names_parent(const struct rule_info *info,
			 const struct treesum_file *file)
{
	return info->rule == RULE_INODE_UNREACHABLE &&
	       file->ino == NILFS_ROOT_INO;
}

static bool names(const struct rule_info *info, const char *line,
		  const struct treesum_file *file)
{
	return names_all(info, line, file) || names_parent(info, file) ||
	       has_number(line, "inode", file->ino) ||
	       (file->cno && info->fix == RULE_FIX_CHECKPOINTS &&
		has_number(line, "checkpoint", file->cno));
}

static bool is_named(const char *found, const struct treesum_file *file)
{
	const struct rule_info *info;
	const char *line;

	while ((info = checker_next_rule(&found, &line)))
		if (names(info, line, file))
			return true;
	return false;
}

static bool is_same(const struct treesum *a, const struct treesum *b,
		    const struct treesum_file *file)
{
	const struct treesum_file *in_a = treesum_find(a, file->cno, file->ino);
	const struct treesum_file *in_b = treesum_find(b, file->cno, file->ino);

	return in_a && in_b ? in_a->sum == in_b->sum : in_a == in_b;
}

bool untouched_is_held(const struct untouched *u)
{
	struct treesum repaired, damaged = { 0 };
	const struct treesum_file *file;
	size_t i, harmed = 0;

	treesum_take(&repaired, u->repaired, u->size);
	for (i = 0; i < u->sound->count; i++) {
		file = &u->sound->files[i];
		if (is_same(u->sound, &repaired, file) ||
		    is_named(u->found, file))
			continue;
		if (!damaged.files)
			treesum_take(&damaged, u->damaged, u->size);
		if (is_same(&damaged, &repaired, file))
			continue;
		printf("harmed: checkpoint %" PRIu64 ": inode %" PRIu64 "\n",
		       file->cno, file->ino);
		harmed++;
	}
	treesum_free(&damaged);
	treesum_free(&repaired);
	return !harmed;
}
