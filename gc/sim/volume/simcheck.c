// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The invariants of the simulated volume.
 *
 * Each is checked from independent data: counts of segments from places, places
 * from the map.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <inttypes.h>

int simcheck_volume(const struct simvol *v, struct context *cx)
{
	uint32_t n = v->config.nsegments, i, needed, live, clean = 0, segnum;
	uint32_t id, place, bps = v->config.blocks;
	uint64_t written = 0, garbage = 0;

	/* Each block is at its position in the map, within the written part. */
	for (id = 0; id < v->nlogical; id++) {
		place = v->at[id];
		if (place == SIMVOL_NONE)
			continue;
		if (place >= v->nplaces || v->owner[place] != id)
			return fail(cx, -EUCLEAN, "block %" PRIu32 " is lost",
				    id);
		if (place % bps >= v->segments[place / bps].written)
			return fail(cx, -EUCLEAN, "block %" PRIu32 " is where "
				    "nothing was written", id);
		if (v->entries.of && id < v->layers[SIMVOL_DAT].base &&
		    v->entries.of[place] == SIMVOL_NONE)
			return fail(cx, -EUCLEAN, "block %" PRIu32 " has no "
				    "entry", id);
	}
	/*
	 * Counts of segments match their places and the totals; the ring contains
	 * exactly the clean segments.
	 */
	for (i = 0; i < n; i++) {
		const struct policy_segment *s = &v->segments[i];

		needed = simhistory_count(v, i, &live);
		if (v->needed[i] != needed)
			return fail(cx, -EUCLEAN, "segment %" PRIu32 ": %"
				    PRIu32 " blocks are needed, not %" PRIu32,
				    i, needed, v->needed[i]);
		if (v->config.counts == SIMVOL_EXACT && s->live != needed)
			return fail(cx, -EUCLEAN, "segment %" PRIu32
				    ": policies see %" PRIu32 " blocks for %"
				    PRIu32, i, s->live, needed);
		if (s->written > s->blocks || needed > s->written)
			return fail(cx, -EUCLEAN, "segment %" PRIu32
				    " is overfull", i);
		if (v->state[i] == SIMVOL_CLEAN && s->written)
			return fail(cx, -EUCLEAN, "segment %" PRIu32
				    " is clean and written", i);
		written += s->written;
		clean += v->state[i] == SIMVOL_CLEAN;
		if (v->state[i] == SIMVOL_FULL)
			garbage += s->written - needed;
	}
	if (written != v->nwritten || garbage != v->ngarbage)
		return fail(cx, -EUCLEAN, "%" PRIu64 " blocks are garbage of %"
			    PRIu64 ", not %" PRIu64 " of %" PRIu64, garbage,
			    written, v->ngarbage, v->nwritten);
	if (clean != v->nclean)
		return fail(cx, -EUCLEAN, "%" PRIu32 " segments are clean, not "
			    "%" PRIu32, clean, v->nclean);
	for (i = 0; i < v->nclean; i++) {
		segnum = v->clean[((uint64_t)v->clean_first + i) % n];
		if (v->state[segnum] != SIMVOL_CLEAN)
			return fail(cx, -EUCLEAN, "segment %" PRIu32 " will be "
				    "written over", segnum);
	}
	return 0;
}
