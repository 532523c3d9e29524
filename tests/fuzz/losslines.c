// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of losses, read from the output of a repair.
 *
 * What the tool prints is known well enough to look for its keys; each object
 * is a line of its own.
 */
#include "losslines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

/* The number after KEY in LINE, or 0. */
static uint64_t number_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void read_loss(struct lossline *loss, const char *line)
{
	static const char key[] = "\"kind\":\"";
	const char *kind = strstr(line, key);

	memset(loss, 0, sizeof(*loss));
	if (kind)
		sscanf(kind + sizeof(key) - 1, "%15[a-z]", loss->kind);
	loss->latest = strstr(line, "\"latest\":true");
	loss->cno = number_of(line, "\"checkpoint\":");
	loss->last = number_of(line, "\"last_checkpoint\":");
	loss->ino = number_of(line, "\"inode\":");
	loss->offset = number_of(line, "\"offset\":");
	loss->length = number_of(line, "\"length\":");
}

void losslines_read(struct losslines *l, char *text)
{
	char *line;

	losslines_free(l);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, "\"record\":\"loss\""))
			continue;
		l->lines = realloc(l->lines, (l->n + 1) * sizeof(*l->lines));
		if (!l->lines)
			arena_die("memory");
		read_loss(&l->lines[l->n++], line);
	}
}

void losslines_free(struct losslines *l)
{
	free(l->lines);
	*l = (struct losslines){.n = 0};
}
