// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A check, a repair, another check, and what they must agree in.
 *
 * What a repair changed is found by comparing the image with a copy, piece by
 * piece; it is small, and what the copy costs is small beside three runs of the
 * checker.
 */
#define _GNU_SOURCE
#include "mending.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "disk/rule.h"

#define EXIT_MENDED 1
#define EXIT_UNCORRECTED 4
#define EXIT_OPERATIONAL 8
#define PIECE 65536

/* Makes TO what FROM is. */
static void copy_changed(char *to, const char *from, size_t size)
{
	size_t at, n;

	for (at = 0; at < size; at += n) {
		n = size - at < PIECE ? size - at : PIECE;
		if (memcmp(to + at, from + at, n))
			memcpy(to + at, from + at, n);
	}
}

void mending_open(struct mending *m, struct arena *arena, arena_main *main_of)
{
	m->arena = arena;
	m->main_of = main_of;
	m->kept = calloc(1, arena->size);
	m->before = m->after = NULL;
	if (!m->kept)
		arena_die("memory");
}

static void forget(struct mending *m)
{
	free(m->before);
	free(m->after);
	m->before = m->after = NULL;
}

void mending_close(struct mending *m)
{
	forget(m);
	free(m->kept);
}

/* Runs the checker with MODE; what it said, if TEXTP is not NULL. */
static int run(struct mending *m, const char *mode, char **textp)
{
	char words[][12] = { "fsck.nilfs2", "" };
	char *argv[] = { words[0], words[1], m->arena->path, NULL };
	int sink = memfd_create("said", 0), text = dup(sink), status;
	off_t size;

	strcpy(words[1], mode);
	status = arena_run(m->arena, m->main_of, argv, sink);
	size = lseek(text, 0, SEEK_END);
	if (textp) {
		*textp = calloc(1, (size_t)size + 1);
		if (!*textp || pread(text, *textp, (size_t)size, 0) != size)
			arena_die("text");
	}
	close(text);
	return status;
}

/*
 * The rule of the finding in the line at *AT, which moves on; NULL at the end.
 * Other lines are left out.  LINEP, if not NULL, is set to that line.
 */
static const struct rule_info *next_rule(const char **at, const char **linep)
{
	const struct rule_info *info = NULL;
	char slug[64];
	size_t n;

	while (**at && !info) {
		if (linep)
			*linep = *at;
		n = strcspn(*at, ":\n");
		if (n < sizeof(slug)) {
			memcpy(slug, *at, n);
			slug[n] = '\0';
			info = rule_find(slug);
		}
		*at += strcspn(*at, "\n");
		*at += **at == '\n';
	}
	return info;
}

static bool has_rule(const char *text, const struct rule_info *wanted)
{
	const struct rule_info *info;

	while ((info = next_rule(&text, NULL))) {
		if (info == wanted)
			return true;
	}
	return false;
}

/* The number behind the first "checkpoint " of TEXT, or 0. */
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

/*
 * Nothing is left that could be mended, or should not be there at all; inodes
 * of snapshots cannot be written again.
 */
static bool is_mended(const char *text)
{
	unsigned long latest = checkpoint_in(strstr(text, " files, checkpoint"));
	const struct rule_info *info;
	const char *line;

	while ((info = next_rule(&text, &line))) {
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

	while ((info = next_rule(&after, NULL))) {
		if (info->severity != RULE_WARNING && !has_rule(before, info))
			return false;
	}
	return true;
}

static const char *judge(const struct mending *m, int was, int status, int is)
{
	if (status == EXIT_OPERATIONAL)
		return was == status ? NULL : "the repair failed";
	if (status && status != EXIT_MENDED && status != EXIT_UNCORRECTED)
		return "the repair ended otherwise than it may";
	if (is != (status == EXIT_UNCORRECTED ? EXIT_UNCORRECTED : 0))
		return "the check after the repair disagrees with it";
	if (status == EXIT_UNCORRECTED)
		return is_no_worse(m->before, m->after) ?
			       NULL : "it is worse than before";
	return is_mended(m->after) ? NULL : "something is left";
}

const char *mending_run(struct mending *m)
{
	const char *wrong;
	int was, status, is;

	copy_changed(m->kept, m->arena->bytes, m->arena->size);
	was = run(m, "-fn", &m->before);
	status = run(m, "-fy", NULL);
	is = run(m, "-fn", &m->after);
	copy_changed(m->arena->bytes, m->kept, m->arena->size);
	wrong = judge(m, was, status, is);
	if (wrong)
		printf("check: %d\n%.4000s\nrepair: %d\ncheck: %d\n%.4000s\n",
		       was, m->before, status, is, m->after);
	forget(m);
	return wrong;
}
