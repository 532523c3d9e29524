// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ages of data, for policies that look at these instead of those of segments.
 *
 * A block that is moved keeps its time.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <stdlib.h>

void simages_put(struct simvol *v, uint32_t id, uint32_t old, uint32_t segnum,
		 bool moved)
{
	struct simvol_ages *a = &v->ages;

	if (old != SIMVOL_NONE)
		simages_drop(v, id, old);
	if (!moved)
		a->of[id] = simvol_time(v);
	a->sum[segnum] += a->of[id];
	a->n[segnum]++;
	if (a->of[id] > a->youngest[segnum])
		a->youngest[segnum] = a->of[id];
}

void simages_drop(struct simvol *v, uint32_t id, uint32_t old)
{
	uint32_t segnum = old / v->config.blocks;

	v->ages.sum[segnum] -= v->ages.of[id];
	v->ages.n[segnum]--;
}

/* What is there already is as old as its segment. */
static void put_all(struct simvol *v)
{
	uint32_t id, segnum;

	for (id = 0; id < v->config.data; id++) {
		if (v->at[id] == SIMVOL_NONE)
			continue;
		segnum = v->at[id] / v->config.blocks;
		v->ages.of[id] = v->segments[segnum].lastmod;
		simages_put(v, id, SIMVOL_NONE, segnum, true);
	}
}

int simages_open(struct simvol *v, struct context *cx)
{
	struct simvol_ages *a = &v->ages;
	uint32_t n = v->config.nsegments;

	a->of = calloc(v->config.data, sizeof(*a->of));
	a->sum = calloc(n, sizeof(*a->sum));
	a->youngest = calloc(n, sizeof(*a->youngest));
	a->n = calloc(n, sizeof(*a->n));
	if (!a->of || !a->sum || !a->youngest || !a->n)
		return fail(cx, -ENOMEM, "ages of data");
	put_all(v);
	return 0;
}

void simages_close(struct simvol *v)
{
	free(v->ages.of);
	free(v->ages.sum);
	free(v->ages.youngest);
	free(v->ages.n);
	v->ages = (struct simvol_ages){ 0 };
}
