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
 * Continues writing in SEGNUM, which was allocated before, perhaps by another
 * writer.
 */
int segments_begin(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * Make sure that up to COUNT segments can be allocated, or that SEGNUM can be
 * changed, without another block of the SUFILE.
 */
int segments_touch(struct segments *s, struct context *cx, uint64_t count);
int segments_touch_one(struct segments *s, struct context *cx,
		       uint64_t segnum);

/*
 * Frees SEGNUM, which has no live blocks; it is allocated again only if
 * `unusable` allows it.  Follows nilfs_sufile_do_free().
 */
int segments_free(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * Leaves SEGNUM, which has no live blocks and whose logs must not be read,
 * dirty with 0 blocks, so that a cleaner frees it without reading it.  Follows
 * nilfs_sufile_do_scrap(), but an erroneous one stays erroneous.
 */
int segments_scrap(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * Marks SEGNUM as erroneous: it keeps its live blocks, and is neither written
 * nor freed.  Follows nilfs_sufile_do_set_error().
 */
int segments_set_error(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * Counts clean and dirty segments again from their entries.  -EUCLEAN, -EIO if
 * the SUFILE cannot be read.
 */
int segments_recount(struct segments *s, struct context *cx);

/*
 * Marks SEGNUM as dirty, regardless of its old state: it is being written or
 * will be next.
 */
int segments_claim(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * segments_wrote() records that the first NBLOCKS blocks of SEGNUM are in use;
 * segments_set_active() marks it like the current segments of a new volume.
 */
int segments_wrote(struct segments *s, struct context *cx, uint64_t segnum,
		   uint32_t nblocks);
int segments_set_active(struct segments *s, struct context *cx,
			uint64_t segnum);

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

/* Marks the unusable segments; they are neither clean nor dirty. */
int segments_mark_unusable(struct segments *s, struct context *cx);

/*
 * Writes the header: the counts, and the checkpoint for which the live-block
 * counts are exact (none if they are stale).
 */
int segments_enter_header(struct segments *s, struct context *cx,
			  uint64_t cno);

/* Sets the number of segments to NSEGMENTS. */
void segments_resize(struct segments *s, uint64_t nsegments);

void segments_fini(struct segments *s);

#endif
