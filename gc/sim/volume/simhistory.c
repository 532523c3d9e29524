// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * History of a simulated volume: the dead blocks that are still needed.
 *
 * A dead block is held by a snapshot within its lifetime, or by the protection
 * period.  When a snapshot is deleted or the period ends, all places are
 * examined again, as gc.nilfs2 does with the DAT at each batch.  The other ways
 * of counting are approximations.
 *
 * Holes are overwritten as in f2fs when space is short ("slack space
 * recycling"; Lee et al., "F2FS: A new file system for flash storage", FAST
 * 2015, call it threaded logging).  A place has a stamp: the checkpoint in
 * which it was written.  If that was an earlier one, its block is part of a
 * complete checkpoint when it dies.  The stamp then becomes the present
 * checkpoint, and the place can be overwritten after the next one.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int simhistory_take(struct simvol *v, struct context *cx)
{
	size_t bytes = (v->nsnapshots + 1) * sizeof(*v->snapshots);
	uint32_t *grown = realloc(v->snapshots, bytes);

	if (!grown)
		return fail(cx, -ENOMEM, "snapshots");
	v->snapshots = grown;
	grown[v->nsnapshots++] = v->cno - 1;
	return 0;
}

bool simhistory_is_held(const struct simvol *v, uint32_t place)
{
	uint32_t birth = v->birth[place], death = v->death[place], i;

	if (death <= birth)
		return false;
	if (death > v->protect_cno)
		return true;
	for (i = v->nsnapshots; i > 0; i--)
		if (v->snapshots[i - 1] < death)
			return v->snapshots[i - 1] >= birth;
	return false;
}

uint32_t simhistory_count(const struct simvol *v, uint32_t segnum, uint32_t *live)
{
	uint32_t first = segnum * v->config.blocks, i, id, needed = 0;

	*live = 0;
	for (i = first; i < first + v->segments[segnum].written; i++) {
		id = v->owner[i];
		if (id == SIMVOL_NONE)
			continue;
		if (v->at[id] == i)
			++*live;
		else if (v->birth && simhistory_is_held(v, i))
			needed++;
	}
	return needed + *live;
}

/* Counts all needed blocks again, and updates the counts that policies use. */
static void recount_needed(struct simvol *v)
{
	uint64_t garbage = 0;
	uint32_t i, live;

	for (i = 0; i < v->config.nsegments; i++) {
		v->needed[i] = simhistory_count(v, i, &live);
		if (v->state[i] == SIMVOL_FULL)
			garbage += v->segments[i].written - v->needed[i];
		if (v->config.counts != SIMVOL_EXACT)
			continue;
		v->segments[i].live = v->needed[i];
		v->segments[i].snapshot = v->needed[i] - live;
		simvol_notify(v, i);
	}
	v->ngarbage = garbage;
}

void simhistory_drop(struct simvol *v)
{
	uint32_t *first, i, half = v->config.blocks / 2;

	if (v->nsnapshots == v->nkept)
		return;
	first = &v->snapshots[v->nkept];
	v->nsnapshots--;
	memmove(first, first + 1,
		(v->nsnapshots - v->nkept) * sizeof(*first));
	recount_needed(v);
	/*
	 * The rule of the published patches: blocks counted for snapshots when
	 * they were moved may be dead now, so their count is halved.
	 */
	for (i = 0; v->config.counts == SIMVOL_HALVED &&
		    i < v->config.nsegments; i++) {
		struct policy_segment *s = &v->segments[i];

		if (s->snapshot <= half || s->live <= half)
			continue;
		s->live = half;
		simvol_notify(v, i);
	}
}

void simhistory_protect(struct simvol *v, uint32_t cno)
{
	v->protect_cno = cno;
	recount_needed(v);
}

void simhistory_holes_drop(struct simvol *v, uint32_t place)
{
	struct simvol_holes *h = &v->holes;
	uint32_t segnum = place / v->config.blocks;

	if (h->stamp[place] == v->cno) {
		h->stamp[place] = 0;
		return;
	}
	h->stamp[place] = v->cno;
	if (h->since[segnum] != v->cno)
		h->waiting[segnum] = 0;
	h->since[segnum] = v->cno;
	h->waiting[segnum]++;
}

uint32_t simhistory_holes_taken(const struct simvol *v, uint32_t segnum)
{
	const struct simvol_holes *h = &v->holes;

	return v->needed[segnum] +
	       (h->since[segnum] == v->cno ? h->waiting[segnum] : 0);
}
