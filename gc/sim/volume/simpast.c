// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The past of a simulated volume.
 *
 * A dead block is held by a snapshot within its life, or by the protection
 * period.  When a snapshot is deleted or the period ends, all places are
 * examined again, as gc.nilfs2 does with the DAT at each batch.  The other ways
 * of counting are approximations.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int simpast_take(struct simvol *v, struct context *cx)
{
	size_t bytes = (v->nsnapshots + 1) * sizeof(*v->snapshots);
	uint32_t *grown = realloc(v->snapshots, bytes);

	if (!grown)
		return fail(cx, -ENOMEM, "snapshots");
	v->snapshots = grown;
	grown[v->nsnapshots++] = v->cno - 1;
	return 0;
}

static bool is_place_needed(const struct simvol *v, uint32_t place)
{
	uint32_t id = v->owner[place];

	if (id == SIMVOL_NONE)
		return false;
	return v->at[id] == place || (v->birth && simvol_is_held(v, place));
}

static uint32_t count_segment(const struct simvol *v, uint32_t segnum,
			      uint32_t *live)
{
	uint32_t first = segnum * v->config.blocks, i, needed = 0;

	*live = 0;
	for (i = first; i < first + v->segments[segnum].written; i++) {
		needed += is_place_needed(v, i);
		*live += v->owner[i] != SIMVOL_NONE && v->at[v->owner[i]] == i;
	}
	return needed;
}

void simpast_count(const struct simvol *v, uint32_t *needed)
{
	uint32_t i, live;

	for (i = 0; i < v->config.nsegments; i++)
		needed[i] = count_segment(v, i, &live);
}

/* Counts all of them again, and updates the counts that policies use. */
static void recount(struct simvol *v)
{
	uint32_t i, live;

	for (i = 0; i < v->config.nsegments; i++) {
		v->needed[i] = count_segment(v, i, &live);
		if (v->config.counts != SIMVOL_EXACT)
			continue;
		v->segments[i].live = v->needed[i];
		v->segments[i].snapshot = v->needed[i] - live;
		simvol_notify(v, i);
	}
	simvol_count(v);
}

/*
 * The rule of the published patches: what was found to be for snapshots when
 * it was moved may be dead now, so that it is counted by half.
 */
static void halve(struct simvol *v)
{
	uint32_t i, half = v->config.blocks / 2;

	for (i = 0; i < v->config.nsegments; i++) {
		struct policy_segment *s = &v->segments[i];

		if (s->snapshot <= half || s->live <= half)
			continue;
		s->live = half;
		simvol_notify(v, i);
	}
}

void simpast_drop(struct simvol *v)
{
	uint32_t *first;

	if (v->nsnapshots == v->nkept)
		return;
	first = &v->snapshots[v->nkept];
	v->nsnapshots--;
	memmove(first, first + 1,
		(v->nsnapshots - v->nkept) * sizeof(*first));
	recount(v);
	if (v->config.counts == SIMVOL_HALVED)
		halve(v);
}

void simpast_protect(struct simvol *v, uint32_t cno)
{
	v->protect_cno = cno;
	recount(v);
}
