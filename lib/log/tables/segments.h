/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segments of the volume in the SUFILE: which one is written next, and what
 * is in those in use.
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
	uint64_t used;			/* one past the highest one in use */
	bool (*unusable)(void *arg, uint64_t segnum);	/* NULL: none */
	/* Called for each segment that is allocated or begun, or NULL. */
	int (*taken)(void *arg, struct context *cx, uint64_t segnum);
	void *arg;
	struct tally live, snapshot;	/* changes not entered yet */
	bool stale;			/* the live counts are not exact */
	bool front;			/* take the lowest clean segment */
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
 * Makes sure that up to COUNT segments can be taken, or that SEGNUM can be
 * changed, without a further block of the SUFILE.
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
 * Leaves SEGNUM, which has no live blocks and whose logs must not be read, in
 * use without blocks, so that a cleaner frees it unread.  Follows
 * nilfs_sufile_do_scrap(), but an erroneous one stays erroneous.
 */
int segments_scrap(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * Marks SEGNUM as erroneous: it keeps its live blocks, and is neither written
 * nor freed.  Follows nilfs_sufile_do_set_error().
 */
int segments_set_error(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * Counts clean and dirty segments again from their entries.  -EUCLEAN, -EIO
 * where the SUFILE cannot be read.
 */
int segments_recount(struct segments *s, struct context *cx);

/* SEGNUM is being written or will be next: dirty, whatever it was. */
int segments_claim(struct segments *s, struct context *cx, uint64_t segnum);

/*
 * NBLOCKS blocks of SEGNUM, from its beginning, are in use; with ACTIVE it is
 * marked as a new volume's current segments are.
 */
int segments_wrote(struct segments *s, struct context *cx, uint64_t segnum,
		   uint32_t nblocks);
int segments_set_active(struct segments *s, struct context *cx,
			uint64_t segnum);

/*
 * Of the blocks in the segment of BLOCKNR, LIVE more are live and, of these,
 * SNAPSHOT more for snapshots only.  Without live-block counts in the entries
 * that is nothing to do.
 */
int segments_count(struct segments *s, struct context *cx, uint64_t blocknr,
		   int32_t live, int32_t snapshot);

/* The same by number of the segment: a record that was wrong. */
int segments_correct(struct segments *s, struct context *cx, uint64_t segnum,
		     int32_t live, int32_t snapshot);

/* Enters these changes; *CHANGED is false if there were none. */
int segments_enter_counts(struct segments *s, struct context *cx,
			  bool *changed);

/* Marks the unusable segments; they are neither clean nor dirty. */
int segments_mark_unusable(struct segments *s, struct context *cx);

/*
 * Writes the header: the counts, and the checkpoint for which the live ones are
 * exact (none if they are stale).
 */
int segments_enter_header(struct segments *s, struct context *cx,
			  uint64_t cno);

/* The volume will have NSEGMENTS. */
void segments_resize(struct segments *s, uint64_t nsegments);

void segments_fini(struct segments *s);

#endif
