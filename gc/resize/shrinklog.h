/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last log before a volume becomes smaller.
 */
#ifndef NILFS2_GC_SHRINKLOG_H
#define NILFS2_GC_SHRINKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "gc/clean/clean.h"
#include "gc/move/batch.h"
#include "gc/move/load.h"
#include "gc/plan/facts.h"
#include "vol/volume.h"

struct shrinklog {
	struct volume *vol;
	struct facts facts;
	struct load load;
	struct sums *sums;	/* as of struct batch_options */
	bool all;		/* all metadata is rewritten */
	bool next_taken;	/* it does not use the present next segment */
	uint64_t used;		/* segments in use after it is written */
	uint64_t before;	/* and now */
};

/*
 * Examines the volume on DEV by the options of cleaning O, and selects the
 * segments to be moved along: those of which at least min_dead percent are
 * dead, and that are not bad by the sums of O (or NULL).  With ALL those with
 * metadata or a dead block are selected, so that no block of metadata is dead
 * then; if shrinklog_promises() is true, a trial shows how many are in use.
 * Must be closed, also after a failure: as facts_gather().
 */
int shrinklog_open(struct shrinklog *l, struct context *cx, struct dev *dev,
		   const struct clean_options *o, bool all);

/* The fewest segments that the volume can have then (reserve_fit()). */
uint64_t shrinklog_fit(const struct shrinklog *l);

/*
 * Whether fewer segments might be in use if all segments with metadata or a
 * dead block were moved along, and there is room for that, by the facts alone.
 */
bool shrinklog_has_holes(const struct shrinklog *l);

/* Whether the result may be less than SEGMENTS, with room for all that. */
bool shrinklog_promises(const struct shrinklog *l, uint64_t segments);

/*
 * Writes it; the volume then has BYTES, and no live block may be after them.
 * Of OPTIONS only time and forecast matter.  As batch_run(), -EINVAL if there
 * is no such size, -EBUSY if a segment after it is in use; -EAGAIN also if a
 * log does not match its checksum: its segment is not moved along the next
 * time.
 */
int shrinklog_write(struct shrinklog *l, struct context *cx,
		    const struct batch_options *options, uint64_t bytes,
		    struct batch_totals *totals);

/*
 * Writes it on an overlay of a volume that keeps its BYTES: *SEGMENTS is the
 * minimum number that it can have then.  Fails as shrinklog_write().
 */
int shrinklog_measure(struct shrinklog *l, struct context *cx,
		      const struct batch_options *options, uint64_t bytes,
		      uint64_t *segments);

void shrinklog_close(struct shrinklog *l);

#endif
