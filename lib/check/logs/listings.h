/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The logs of a segment, with those of its current use; and a sorted table of
 * the blocks that logs list, each with its newest position.
 */
#ifndef NILFS2_CHECK_LISTINGS_H
#define NILFS2_CHECK_LISTINGS_H

#include "check/check.h"
#include "check/logs/logindex.h"

struct listings_walk {
	const struct check *c;
	bool is_used;		/* the segment is in use by the SUFILE, or
				   the SUFILE is unknown */
	bool is_former;		/* the log is of an earlier use */
	bool partial;		/* a log of the current use, among the blocks
				   in use, is missing */

	struct logindex_segment segment;
	uint32_t log;			/* number of the next log in it */
	struct logindex_cursor current;	/* in the log returned last */

	uint64_t next;		/* start of the next log if none is missing */
	uint64_t end;		/* end of the logs in use; 0: unknown */
	uint64_t limit;		/* blocks after it are not part of any state */
	uint64_t seq;		/* of the current use, valid if any */
	bool any;
};

/*
 * Opens segment SEGNUM: 1, 0 if it is neither in use nor begins with a log, so
 * that there are no logs.  -ENOMEM, -ENOBUFS, -EINTR.  Nothing must be closed.
 */
int listings_open(struct listings_walk *l, struct context *cx,
		  const struct check *c, uint64_t segnum);

/*
 * Steps to the next log with a valid summary: 1 and *LOG, 0 at the end.
 * Unreadable blocks are skipped, and so are logs after the latest super root,
 * which are not part of any state.  -ENOMEM, -EINTR.
 */
int listings_next(struct listings_walk *l, struct context *cx,
		  struct logindex_log *log);

/* Steps to the next block that the log lists: 1 and *B, 0 at the end; the
   verdict of the log is the reason for the end.  -ENOMEM. */
int listings_block(struct listings_walk *l, struct context *cx,
		   struct segsum_block *b);

/*
 * The listing of block BLOCKNR of C's volume in the logs of the current use: 1 and
 * *B; 0 if no log lists it.  Fails as listings_open() and listings_next().
 */
int listings_find_block(struct context *cx, const struct check *c,
			uint64_t blocknr, struct segsum_block *b);

/* Whether block BLOCKNR is part of a readable log, listed or not, or of a segment
   that begins with a log written after the latest state of C. */
bool listings_has_log(const struct check *c, struct context *cx,
		      uint64_t blocknr);

struct listing {
	uint64_t number;	/* virtual block, or block of a file; first field */
	uint64_t blocknr;
	uint64_t seq;		/* sequence number of the log; greater is newer */
	uint64_t cno;		/* checkpoint that wrote it; 0: unknown */
	uint64_t ino;		/* file */
	uint64_t blkoff;	/* block of the file, for data */
	bool is_node;
	bool is_used;		/* the segment is in use by the SUFILE */
	bool is_former;		/* the log is of an earlier use of its segment */
};

/* Greater is newer; 0: from an earlier use of its segment. */
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

/* Ascending by number, each number once.  The caller zeroes it and sets the
   request. */
struct listings {
	/*
	 * The request is one of: all data blocks OF_FILE, which is the DAT, the
	 * cpfile or the SUFILE; virtual blocks, including nodes, of the NINOS
	 * inodes INOS, ascending; virtual blocks WANTED; or virtual blocks from
	 * FROM up to, not including, END.  END is lowered to what the memory
	 * budget allows, and the caller continues from there.
	 */
	uint64_t of_file;
	const uint64_t *inos;
	size_t ninos;
	const struct sparse *wanted;
	uint64_t from, end;

	struct listing *items;
	size_t n, room;
	bool partial;	/* a log that could not be read may list a newer block */
	/* Segments of these logs, if the caller allocated the set. */
	struct bitmap partial_segments;

	/*
	 * While gathering: CUT is the number of items at which the list is
	 * reduced, MOST the limit by the budget.  Or VISIT is called instead.
	 */
	size_t cut, most;
	listings_visitor *visit;
	void *arg;
};

/*
 * Collects the requested listings from all logs up to the latest super root.  A
 * listing in a segment in use takes precedence over one in a clean segment,
 * which is of an earlier use unless the SUFILE is wrong; in OF_FILE the newest
 * takes precedence.  Memory follows the number of blocks requested.  -ENOMEM,
 * -EINTR; for INOS -EFBIG if the memory budget is exceeded.
 */
int listings_gather(struct listings *l, struct context *cx,
		    const struct check *c);

void listings_fini(struct listings *l);

/*
 * Calls VISIT for every virtual block that a log lists, including nodes, in the
 * order of segments, which is not that of time.  Blocks of an earlier use are
 * not live there, unless the segment was freed too early; the DAT decides.
 * Unreadable blocks are skipped.  -ENOMEM, -EINTR, or a failure of VISIT.
 */
int listings_visit(const struct check *c, struct context *cx,
		   listings_visitor *visit, void *arg);

/* Whether no log is missing, so that every live block is in a known log. */
bool listings_are_whole(const struct check *c);

/* The listing of NUMBER, or NULL. */
const struct listing *listings_find(const struct listings *l, uint64_t number);

/* Index of the first listing whose number is NUMBER or more, or l->n. */
static inline size_t listings_from(const struct listings *l, uint64_t number)
{
	return search_number(l->items, l->n, sizeof(*l->items), number);
}

#endif
