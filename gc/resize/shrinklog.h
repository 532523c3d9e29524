/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last log before a volume becomes smaller.  It moves the live blocks of sparse
 * segments, so that fewer segments are in use.  shrink.c calls these functions.
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
 * segments whose live blocks the log moves: those of which at least min_dead percent
 * are dead, and that are not bad by the sums of O (or NULL).  With ALL, segments with
 * metadata or a dead block are selected, so that no dead block of metadata is left;
 * if shrinklog_promises() is true, a trial shows how many segments are in use.
 * To be closed also after a failure.  Fails as facts_gather().
 */
int shrinklog_open(struct shrinklog *l, struct context *cx, struct dev *dev,
		   const struct clean_options *o, bool all);

/* The fewest segments that the volume can have after this log (reserve_fit()). */
uint64_t shrinklog_fit(const struct shrinklog *l);

/*
 * Whether fewer segments might be in use if all segments with metadata or a dead
 * block were moved too, and whether there is room for that.  Only the facts are used.
 */
bool shrinklog_has_holes(const struct shrinklog *l);

/* Whether fewer than SEGMENTS may be in use after this log, and it has room. */
bool shrinklog_promises(const struct shrinklog *l, uint64_t segments);

/*
 * Writes the log.  The volume then has BYTES; no live block may be after them.
 * Of OPTIONS only time and forecast are used.  Fails as batch_run(); -EINVAL if there
 * is no such size, -EBUSY if a segment after the new end is in use; -EAGAIN also if a
 * log does not match its checksum: the next attempt does not move its segment.
 */
int shrinklog_write(struct shrinklog *l, struct context *cx,
		    const struct batch_options *options, uint64_t bytes,
		    struct batch_totals *totals);

/*
 * Writes the log on an overlay of a volume that keeps its size BYTES.  *SEGMENTS is the
 * minimum number of segments of that volume.  Fails as shrinklog_write().
 */
int shrinklog_measure(struct shrinklog *l, struct context *cx,
		      const struct batch_options *options, uint64_t bytes,
		      uint64_t *segments);

void shrinklog_close(struct shrinklog *l);

#endif
