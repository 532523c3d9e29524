// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing into holes, as f2fs does where space is short ("slack space
 * recycling"; Lee et al., "F2FS: A new file system for flash storage", FAST
 * 2015, call it threaded logging).
 *
 * A place has a stamp: the checkpoint in which it was written.  Where that was
 * an earlier one, its block is part of a complete checkpoint when it dies, and
 * the stamp becomes the present one, so that the place waits for the next.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <stdlib.h>

int simholes_open(struct simvol *v, struct context *cx)
{
	struct simvol_holes *h = &v->holes;
	uint32_t n = v->config.nsegments;

	h->stamp = calloc(v->nplaces, sizeof(*h->stamp));
	h->waiting = calloc(n, sizeof(*h->waiting));
	h->since = calloc(n, sizeof(*h->since));
	if (!h->stamp || !h->waiting || !h->since)
		return fail(cx, -ENOMEM, "holes");
	return 0;
}

void simholes_close(struct simvol *v)
{
	free(v->holes.stamp);
	free(v->holes.waiting);
	free(v->holes.since);
	v->holes = (struct simvol_holes){ 0 };
}

void simholes_put(struct simvol *v, uint32_t place)
{
	v->holes.stamp[place] = v->cno;
}

void simholes_drop(struct simvol *v, uint32_t place)
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

bool simholes_is_hole(const struct simvol *v, uint32_t place)
{
	uint32_t id = v->owner[place];

	return (id == SIMVOL_NONE || v->at[id] != place) &&
	       v->holes.stamp[place] != v->cno;
}

uint32_t simholes_taken(const struct simvol *v, uint32_t segnum)
{
	const struct simvol_holes *h = &v->holes;

	return v->needed[segnum] +
	       (h->since[segnum] == v->cno ? h->waiting[segnum] : 0);
}
