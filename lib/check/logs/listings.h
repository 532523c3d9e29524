/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the logs list, sorted: of each block the newest position. */
#ifndef NILFS2_CHECK_LISTINGS_H
#define NILFS2_CHECK_LISTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "base/sparse.h"

struct check;

struct listing {
	uint64_t number;	/* virtual block, or block of the DAT */
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

/* Ascending by number, each once.  All zero is empty. */
struct listings {
	struct listing *items;
	size_t n, room;
	bool partial;	/* a log that could not be read may list something newer */
	/* The segments of these logs, where the caller has made the set. */
	struct bitmap partial_segments;
};

/*
 * Collects the listings of the virtual blocks in WANTED from all logs up to the
 * latest super root.  One in a segment in use takes precedence over one in a
 * clean segment, which is of a former life, unless the SUFILE is wrong.  Memory
 * follows the number of WANTED.  -ENOMEM, -EINTR.
 */
int listings_of_vblocks(struct listings *l, struct context *cx,
			const struct check *c, const struct sparse *wanted);

/* The same of all virtual blocks that are listed for the N inodes INOS, which ascend,
   nodes too.  -EFBIG past the memory budget. */
int listings_of_inodes(struct listings *l, struct context *cx,
		       const struct check *c, const uint64_t *inos, size_t n);

/*
 * The same for the virtual blocks from FROM up to, not including, *END, which
 * is lowered to what the memory budget allows: the caller continues from there.
 */
int listings_of_range(struct listings *l, struct context *cx,
		      const struct check *c, uint64_t from, uint64_t *end);

/* The same of all data blocks of the DAT, the cpfile or the SUFILE (INO). */
int listings_of_file(struct listings *l, struct context *cx,
		     const struct check *c, uint64_t ino);

void listings_fini(struct listings *l);

typedef int listings_visitor(void *arg, struct context *cx,
			     const struct listing *l);

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
size_t listings_from(const struct listings *l, uint64_t number);

#endif
