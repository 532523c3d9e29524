// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Findings that are told later.
 *
 * Of a look between two rounds nobody knows whether it is the last one, whose
 * findings are what is left.  What does not fit is not told, but was counted.
 */
#include "fsck/plan/kept.h"

#include <stdlib.h>
#include <string.h>

#include "find/tell.h"

static bool has_room(struct kept *k)
{
	size_t room = k->room ? 2 * k->room : 16;
	struct finding *findings;

	if (k->n < k->room)
		return true;
	if (k->n >= KEPT_MOST)
		return false;
	findings = realloc(k->findings, room * sizeof(*findings));
	if (!findings)
		return false;
	k->findings = findings;
	k->room = room;
	return true;
}

void kept_add(void *kept, const struct finding *f)
{
	struct kept *k = kept;

	if (!has_room(k))
		return;
	k->findings[k->n] = *f;
	if (f->detail)
		k->findings[k->n].detail = strdup(f->detail);
	k->n++;
}

void kept_report(const struct kept *k, struct report *r, const char *key)
{
	size_t i;

	report_list(r, key);
	for (i = 0; i < k->n; i++)
		tell_finding(r, &k->findings[i]);
	report_end(r);
}

void kept_fini(struct kept *k)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		free((char *)(uintptr_t)k->findings[i].detail);
	free(k->findings);
	memset(k, 0, sizeof(*k));
}
