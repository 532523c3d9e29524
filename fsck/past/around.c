// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checkpoints around one whose content is wrong.
 *
 * What a checkpoint has mostly stands in those before and after as well, the
 * nearer the likelier.  Those that share the wrong block are no help, and are
 * left out by its life.
 */
#include "fsck/past/around.h"

#include <stdlib.h>

#include "base/search.h"
#include "check/damage.h"
#include "vol/cptable.h"

int around_open(struct around *a, struct context *cx, struct volume *vol)
{
	return damage_forgive(cx,
			      cptable_list(vol, cx, false, &a->cnos, &a->n));
}

void around_begin(struct around *a, struct lifetime life)
{
	a->below = search_lower_bound(a->cnos, a->n, life.start);
	a->above = search_lower_bound(a->cnos, a->n, life.end);
	a->after = true;
}

int around_next(struct around *a, struct context *cx, uint64_t *cno)
{
	bool after = a->above < a->n && (a->after || !a->below);
	int err = context_cancelled(cx);

	if (err || (!after && !a->below))
		return err;
	*cno = a->cnos[after ? a->above++ : --a->below];
	a->after = !after;
	return 1;
}

void around_end_side(struct around *a, uint64_t cno)
{
	if (a->above && cno == a->cnos[a->above - 1])
		a->above = a->n;
	else
		a->below = 0;
}

void around_close(struct around *a)
{
	free(a->cnos);
	*a = (struct around){ .cnos = NULL };
}
