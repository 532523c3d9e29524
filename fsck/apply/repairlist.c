// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of repairs.
 *
 * A repair that is taken back must not be reported, so nothing is printed
 * before the commit.  Lack of memory costs a phrase, not the repair.
 */
#include "fsck/apply/repairlist.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool has_room(struct repairlist *m)
{
	size_t room = m->room ? 2 * m->room : 16;
	char **lines;

	if (m->n < m->room)
		return true;
	if (m->n >= REPAIRLIST_MAX)
		return false;
	lines = realloc(m->lines, room * sizeof(*lines));
	if (!lines)
		return false;
	m->lines = lines;
	m->room = room;
	return true;
}

void repairlist_add(void *repaired, const char *text)
{
	struct repairlist *m = repaired;
	char *line = has_room(m) ? strdup(text) : NULL;

	if (line)
		m->lines[m->n++] = line;
	else
		m->more++;
}

void repairlist_rewind(struct repairlist *m, size_t n)
{
	while (m->n > n)
		free(m->lines[--m->n]);
}

static void put_text(const struct repairlist *m, struct report *r)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		report_text(r, "repaired: %s", m->lines[i]);
	if (m->more)
		report_text(r, "repaired: %" PRIu64 " more", m->more);
}

void repairlist_report(const struct repairlist *m, struct report *r)
{
	size_t i;

	if (report_is_text(r)) {
		put_text(m, r);
		return;
	}
	report_list(r, "repairs");
	for (i = 0; i < m->n; i++) {
		report_begin(r, "repair", NULL);
		report_string(r, "text", "Text", m->lines[i]);
		report_end(r);
	}
	report_end(r);
}

void repairlist_fini(struct repairlist *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->lines[i]);
	free(m->lines);
	memset(m, 0, sizeof(*m));
}
