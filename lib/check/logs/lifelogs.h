/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The logs of a segment, and which of them are of its present life. */
#ifndef NILFS2_CHECK_LIFELOGS_H
#define NILFS2_CHECK_LIFELOGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/logs/logindex.h"

struct lifelogs {
	const struct check *c;
	bool is_used;		/* the SUFILE has the segment in use, or is
				   not known to say otherwise */
	bool is_former;		/* the log is from a former life */
	bool partial;		/* a log of this life, in use, is missing */

	struct logindex_segment segment;
	uint32_t log;			/* number of the next one in it */
	struct logindex_log current;	/* the last one that was returned */
	struct logindex_extent extent;	/* whose blocks are next */
	uint32_t nextents, block;	/* of the log, of the extent: returned */

	uint64_t next;		/* where the next log begins, if none is missing */
	uint64_t end;		/* of the logs in use; 0: not known */
	uint64_t limit;		/* after it nothing is part of anything */
	uint64_t seq;		/* of this life, valid if any */
	bool any;
};

/*
 * Begins with segment SEGNUM: 1, 0 where it is not in use and does not begin
 * with a log either, so that there is nothing to be found.  -ENOMEM, -ENOBUFS,
 * -EINTR.  There is nothing to be closed.
 */
int lifelogs_open(struct lifelogs *l, struct context *cx,
		  const struct check *c, uint64_t segnum);

/*
 * Steps to the next log with a sound summary: 1 and *LOG, 0 at the end.  Past
 * blocks that cannot be read, and without what was written after the latest
 * super root, which is part of nothing.  -ENOMEM, -EINTR.
 */
int lifelogs_next(struct lifelogs *l, struct context *cx,
		  struct logindex_log *log);

/* Steps to the next extent of the log, before its first or after the last block
   of one: 1 and *E, 0 at the end.  -ENOMEM. */
int lifelogs_extent(struct lifelogs *l, struct context *cx,
		    struct logindex_extent *e);

/* Steps to the next block that the log lists: 1 and *B, 0 at the end; its
   verdict is why it ended.  -ENOMEM. */
int lifelogs_block(struct lifelogs *l, struct context *cx,
		   struct segsum_block *b);

/*
 * The listing of block BLOCKNR of C's volume in the logs of this life: 1, *B
 * and its checkpoint in *CNO (0: not known; NULL: not wanted); 0 if none lists
 * it.  Fails as lifelogs_open() and lifelogs_next().
 */
int lifelogs_find_block(struct context *cx, const struct check *c,
			uint64_t blocknr, struct segsum_block *b,
			uint64_t *cno);

#endif
