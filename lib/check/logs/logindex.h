/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log index: the listings in the summaries of the logs of a segment, read
 * once.  For one thread at a time.
 */
#ifndef NILFS2_CHECK_LOGINDEX_H
#define NILFS2_CHECK_LOGINDEX_H

#include "base/bitmap.h"
#include "base/context.h"
#include "disk/segsum.h"

struct logindex;
struct volume;

/* A log with a valid summary, of any sequence number. */
struct logindex_log {
	uint64_t pseg;		/* its first block */
	uint64_t seq;
	uint64_t cno;		/* ss_cno; 0: the header has none */
	uint64_t create;	/* seconds */
	uint64_t first;		/* its first extent record */
	uint32_t nextents;
	uint32_t nblocks;
	uint32_t nsumblk;	/* blocks of the summary */
	uint16_t flags;		/* NILFS_SS_... */
	/* enum rule: why its list of blocks ends, as in segsum_iter. */
	uint16_t verdict;
};

/*
 * A run of blocks that are consecutive on the device and in the list of a file;
 * data blocks also in the file and in their virtual numbers.
 */
struct logindex_extent {
	uint64_t blocknr;	/* first block on the device */
	uint64_t vblocknr;	/* 0 in the DAT */
	uint64_t blkoff;	/* 0 for a node outside the DAT */
	uint64_t ino;
	uint64_t cno;		/* fi_cno */
	uint32_t finfo;		/* index of the file in the log, from 0 */
	uint32_t count;
	uint8_t level;		/* as in struct segsum_block */
	bool is_node, is_virtual;
};

/* The logs of a segment, in the order of the device, numbered from FIRST on. */
struct logindex_segment {
	struct logindex *ix;	/* index that contains them */
	uint64_t first;
	uint32_t n;
	uint32_t nsame;		/* number of leading logs with the sequence
				   number of the first */
};

/*
 * Creates an empty index for a volume with geometry GEO.  BASE, another index,
 * borrowed, provides the segments that no overlay has changed, if its geometry
 * is equal; NULL: none.  -ENOMEM.
 */
int logindex_open(struct logindex **ixp, struct context *cx,
		  const struct nilfs_geometry *geo, struct logindex *base);

/* NULL is accepted. */
void logindex_close(struct logindex *ix);

/*
 * The logs of segment SEGNUM of VOL.  The first call searches the segment,
 * block by block where there is no log.  Blocks for which two reads fail are
 * skipped; a segment that VOL does not have is empty.  -ENOMEM, -ENOBUFS,
 * -EINTR.
 */
int logindex_segment(struct logindex *ix, struct context *cx,
		     struct volume *vol, uint64_t segnum,
		     struct logindex_segment *s);

/* Whether segment SEGNUM begins with a log, valid or not, or with an unreadable
   block. */
bool logindex_begins(struct logindex *ix, struct context *cx,
		     struct volume *vol, uint64_t segnum);

/*
 * SEGNUM, or one after it: those between are not in USED (may be NULL or empty), not
 * the latest one, and no log begins them, as they are a hole of an image or were asked
 * for.  A large volume has millions, which are left out many at a time.  Less than
 * the number of segments.
 */
uint64_t logindex_skip(struct logindex *ix, struct volume *vol, uint64_t segnum,
		       const struct bitmap *used);

/* Log number I, and extent record number I, of the index that has the segment.
   -ENOMEM. */
int logindex_log(struct logindex *ix, struct context *cx, uint64_t i,
		 struct logindex_log *log);
int logindex_extent(struct logindex *ix, struct context *cx, uint64_t i,
		    struct logindex_extent *e);

/* The log of S, among the first N, that begins at block BLOCKNR or is the last
   before it: 1 and *LOG, 0.  -ENOMEM. */
int logindex_find_log(struct context *cx, const struct logindex_segment *s,
		      uint32_t n, uint64_t blocknr, struct logindex_log *log);

/* The extent of LOG that contains block BLOCKNR: 1 and *E, 0.  -ENOMEM. */
int logindex_find_extent(struct logindex *ix, struct context *cx,
			 const struct logindex_log *log, uint64_t blocknr,
			 struct logindex_extent *e);

/* A position among the blocks that LOG lists.  All zero but for LOG: before the
   first one. */
struct logindex_cursor {
	struct logindex_log log;
	struct logindex_extent extent;	/* extent with the next block */
	uint32_t nextents, block;	/* extents and blocks returned: of the
					   log, of the extent */
};

/* Steps to the next block: 1 and *B, 0 at the end.  -ENOMEM. */
int logindex_next_block(struct logindex *ix, struct context *cx,
			struct logindex_cursor *cur, struct segsum_block *b);

/* Block I of E, an extent of LOG.  Fields about the file as a whole are 0. */
static inline struct segsum_block
logindex_block(const struct logindex_log *log, const struct logindex_extent *e,
	       uint32_t i)
{
	return (struct segsum_block){
		.ino = e->ino,
		.cno = e->cno,
		.vblocknr = e->is_virtual ? e->vblocknr + i : 0,
		.blkoff = e->is_node ? e->blkoff : e->blkoff + i,
		.index = (uint32_t)(e->blocknr - log->pseg) + i,
		.finfo = e->finfo,
		.level = e->level,
		.is_node = e->is_node,
		.is_virtual = e->is_virtual,
	};
}

#endif
