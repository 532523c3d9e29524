/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The logs of a segment, and which of them are of its present life; and what the
 * logs list, sorted: of each block the newest position.
 */
#ifndef NILFS2_CHECK_LISTINGS_H
#define NILFS2_CHECK_LISTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "base/search.h"
#include "base/sparse.h"
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
int listings_open(struct lifelogs *l, struct context *cx,
		  const struct check *c, uint64_t segnum);

/*
 * Steps to the next log with a sound summary: 1 and *LOG, 0 at the end.  Past
 * blocks that cannot be read, and without what was written after the latest
 * super root, which is part of nothing.  -ENOMEM, -EINTR.
 */
int listings_next(struct lifelogs *l, struct context *cx,
		  struct logindex_log *log);

/* Steps to the next block that the log lists: 1 and *B, 0 at the end; its
   verdict is why it ended.  -ENOMEM. */
int listings_block(struct lifelogs *l, struct context *cx,
		   struct segsum_block *b);

/*
 * The listing of block BLOCKNR of C's volume in the logs of this life: 1, *B
 * and its checkpoint in *CNO (0: not known; NULL: not wanted); 0 if none lists
 * it.  Fails as listings_open() and listings_next().
 */
int listings_find_block(struct context *cx, const struct check *c,
			uint64_t blocknr, struct segsum_block *b,
			uint64_t *cno);

struct listing {
	uint64_t number;	/* virtual block, or block of a file; first */
	uint64_t blocknr;
	uint64_t seq;		/* of the log; greater is newer */
	uint64_t cno;		/* that it was written with; 0: not known */
	uint64_t ino;		/* of the file */
	uint64_t blkoff;	/* there, of data */
	bool is_node;
	bool is_used;		/* in a segment that the SUFILE has in use */
	bool is_former;		/* of a former life of its segment */
};

/* Greater is newer; 0: of a former life of its segment. */
static inline uint64_t listing_rank(const struct listing *l)
{
	return l->is_former ? 0 : l->seq + 1;
}

/* True where A was written before B. */
static inline bool listing_is_older(const struct listing *a,
				    const struct listing *b)
{
	return listing_rank(a) != listing_rank(b) ?
		       listing_rank(a) < listing_rank(b) :
		       a->blocknr < b->blocknr;
}

typedef int listings_visitor(void *arg, struct context *cx,
			     const struct listing *l);

/* Ascending by number, each once.  All zero but for what is asked. */
struct listings {
	/*
	 * Asked are all data blocks of the DAT, the cpfile or the SUFILE,
	 * OF_FILE; or virtual blocks: those that are listed for the NINOS inodes
	 * INOS, which ascend, nodes too; or those WANTED; or those from FROM up
	 * to, not including, END, which is lowered to what the memory budget
	 * allows: the caller continues from there.
	 */
	uint64_t of_file;
	const uint64_t *inos;
	size_t ninos;
	const struct sparse *wanted;
	uint64_t from, end;

	struct listing *items;
	size_t n, room;
	bool partial;	/* a log that could not be read may list something newer */
	/* The segments of these logs, where the caller has made the set. */
	struct bitmap partial_segments;

	/* While it is gathered: reduced at CUT items; the budget has room for
	   MOST.  Or what is called instead. */
	size_t cut, most;
	listings_visitor *visit;
	void *arg;
};

/*
 * Collects the listings that are asked for from all logs up to the latest super
 * root.  One in a segment in use takes precedence over one in a clean segment,
 * which is of a former life, unless the SUFILE is wrong; in OF_FILE the newest
 * does.  Memory follows the number of blocks asked for.  -ENOMEM, -EINTR; of
 * INOS -EFBIG past the memory budget.
 */
int listings_gather(struct listings *l, struct context *cx,
		    const struct check *c);

void listings_fini(struct listings *l);

/*
 * Calls VISIT for every virtual block that a log lists, nodes too; in the order
 * of segments, which is not that of time.  What is of a former life is there
 * nowhere but where the segment was given up too early: the DAT knows.  What
 * cannot be read is left out.  -ENOMEM, -EINTR, or what VISIT failed with.
 */
int listings_visit(const struct check *c, struct context *cx,
		   listings_visitor *visit, void *arg);

/* Whether no log is missing: a live block is in one of them. */
bool listings_are_whole(const struct check *c);

/* The listing of NUMBER, or NULL. */
const struct listing *listings_find(const struct listings *l, uint64_t number);

/* Index of the first listing whose number is NUMBER or more, or l->n. */
static inline size_t listings_from(const struct listings *l, uint64_t number)
{
	return search_number(l->items, l->n, sizeof(*l->items), number);
}

#endif
