/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segments of a volume, from its SUFILE.
 */
#ifndef NILFS2_VOL_SUTABLE_H
#define NILFS2_VOL_SUTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/segusage.h"
#include "vol/extent.h"

struct volume;

/* Copies the header of the SUFILE.  -EUCLEAN where it is a hole, -EIO. */
int sutable_header(struct volume *vol, struct context *cx,
		   struct nilfs_sufile_header *header);

/*
 * 1 if the counts of live blocks are marked as exact as of the latest super root; 0
 * if not, or if the volume has no such counts; -EUCLEAN, -EIO.
 */
int sutable_is_exact(struct volume *vol, struct context *cx);

/*
 * Reads the usage of segment SEGNUM, with zeros for members that the entries of this
 * volume do not have; a hole of the SUFILE reads as clean.  -EINVAL for a segment
 * that the volume does not have, -EUCLEAN, -EIO.
 */
int sutable_read(struct volume *vol, struct context *cx, uint64_t segnum,
		 struct nilfs_segment_usage_ext *su);

/* A cursor over segments in order. */
struct sutable_cursor {
	struct volume *vol;
	struct extent_cursor extents;
	struct extent extent;	/* the run at or after the place */
	const void *block;	/* borrowed; NULL: a hole */
	const char *entry;	/* entry of SEGNUM in the block */
	uint64_t segnum;	/* the segment to yield next */
	uint64_t end;		/* the first segment of the next block */
	bool holes;		/* yield the clean segments of holes as well */
	bool ended;		/* no extent follows */
};

/*
 * Starts at segment 0.  Without HOLES, segments whose block of the SUFILE was never
 * written (all clean) are skipped, so the cost follows the used part of a volume and
 * not its size.
 */
int sutable_cursor_open(struct sutable_cursor *cur, struct context *cx,
			struct volume *vol, bool holes);
/* 1, *SEGNUM and *SU; 0 at the end; -EUCLEAN or -EIO. */
int sutable_cursor_next(struct sutable_cursor *cur, struct context *cx,
			uint64_t *segnum, struct nilfs_segment_usage_ext *su);
void sutable_cursor_close(struct sutable_cursor *cur);

/* Visits segment SEGNUM: 0, or a value that ends the walk. */
typedef int sutable_visitor(void *arg, struct context *cx, uint64_t segnum,
			    const struct nilfs_segment_usage *su);

/*
 * Visits the segments that a cursor with HOLES yields, in order: 0, or the return
 * value of the visitor.  Fails as the cursor, and with -EINTR.
 */
int sutable_walk(struct volume *vol, struct context *cx, bool holes,
		 sutable_visitor *visit, void *arg);

#endif
