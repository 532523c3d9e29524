/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segments of the volume in the SUFILE: allocation, and the counts of those
 * in use.
 */
#ifndef NILFS2_LOG_SEGMENTS_H
#define NILFS2_LOG_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/geometry.h"
#include "log/meta/metafile.h"
#include "log/tables/tally.h"

struct segments {
	const struct nilfs_geometry *g;
	struct metafile *m;		/* the SUFILE, borrowed */
	uint64_t time;			/* su_lastmod, su_nlive_lastmod */
	uint64_t nclean, ndirty, last_alloc;
	uint64_t used;			/* the highest one in use, plus 1 */
	bool (*unusable)(void *arg, uint64_t segnum);	/* NULL: all usable */
	/* Called for each segment that is allocated or begun, or NULL. */
	int (*taken)(void *arg, struct context *cx, uint64_t segnum);
	void *arg;
	struct tally live, snapshot;	/* pending changes */
	bool stale;			/* the live counts are not exact */
	bool front;			/* allocate the lowest clean segment */
};

/*
 * Allocates the next clean segment: nilfs_sufile_alloc().  -ENOSPC if there is
 * none.
 */
int segments_take(struct segments *s, struct context *cx, uint64_t *segnum);

/*
 * Makes sure that up to COUNT segments can be taken without a further block of
 * the SUFILE.
 */
int segments_touch(struct segments *s, struct context *cx, uint64_t count);

/* The new state of a segment for segments_set(). */
enum segments_state {
	/* Unchanged: only the block of the SUFILE becomes dirty. */
	SEGMENTS_SAME,
	/*
	 * Clean, of one without live blocks; it is allocated again only if
	 * `unusable` allows it.  Follows nilfs_sufile_do_free().
	 */
	SEGMENTS_CLEAN,
	/*
	 * In use without blocks, so that a cleaner frees it unread, of one
	 * without live blocks whose logs must not be read.  Follows
	 * nilfs_sufile_do_scrap(), but an erroneous one stays erroneous.
	 */
	SEGMENTS_SCRAPPED,
	/*
	 * Erroneous: it keeps its live blocks, and is neither written nor freed.
	 * Follows nilfs_sufile_do_set_error().
	 */
	SEGMENTS_ERROR,
	/* Being written, or next: dirty, in any case. */
	SEGMENTS_CURRENT,
	/* The same as a new volume's current segments are marked. */
	SEGMENTS_ACTIVE,
};

int segments_set(struct segments *s, struct context *cx, uint64_t segnum,
		 enum segments_state state);

/*
 * Counts clean and dirty segments again from their entries.  -EUCLEAN, -EIO if
 * the SUFILE cannot be read.
 */
int segments_recount(struct segments *s, struct context *cx);

/* NBLOCKS blocks of SEGNUM, from its beginning, are in use. */
int segments_wrote(struct segments *s, struct context *cx, uint64_t segnum,
		   uint32_t nblocks);

/*
 * Adds LIVE to the number of live blocks in the segment of BLOCKNR, and
 * SNAPSHOT to the number of those kept by snapshots only.  Does nothing if the
 * entries have no live-block counts.
 */
int segments_count(struct segments *s, struct context *cx, uint64_t blocknr,
		   int32_t live, int32_t snapshot);

/* The same by number of the segment, to correct a wrong entry. */
int segments_correct(struct segments *s, struct context *cx, uint64_t segnum,
		     int32_t live, int32_t snapshot);

/* Enters the pending changes; *CHANGED is false if there were none. */
int segments_enter_counts(struct segments *s, struct context *cx,
			  bool *changed);

/*
 * Writes the header: the counts, and the checkpoint for which the live-block
 * counts are exact (none if they are stale).
 */
int segments_enter_header(struct segments *s, struct context *cx,
			  uint64_t cno);

#endif
