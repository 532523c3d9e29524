/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log index: what the summaries of the logs of a segment list, read once.
 * For one thread at a time.
 */
#ifndef NILFS2_CHECK_LOGINDEX_H
#define NILFS2_CHECK_LOGINDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "disk/segsum.h"

struct logindex;
struct volume;

/* A log with a sound summary, whatever its sequence number. */
struct logindex_log {
	uint64_t pseg;		/* its first block */
	uint64_t seq;
	uint64_t cno;		/* ss_cno; 0: the header has none */
	uint64_t create;	/* seconds */
	uint64_t first;		/* extent record */
	uint32_t nextents;
	uint32_t nblocks;
	uint16_t flags;		/* NILFS_SS_... */
	/* enum rule: why the list of its blocks ends, as of segsum_iter. */
	uint16_t verdict;
};

/*
 * A run of blocks that follow each other on the device and in the list of a
 * file; of data blocks also in the file and by their virtual number.
 */
struct logindex_extent {
	uint64_t blocknr;	/* of the first, on the device */
	uint64_t vblocknr;	/* 0 in the DAT */
	uint64_t blkoff;	/* 0 for a node outside the DAT */
	uint64_t ino;
	uint64_t cno;		/* fi_cno */
	uint32_t finfo;		/* number of the file in the log, from 0 */
	uint32_t count;
	uint8_t level;		/* as in struct segsum_block */
	bool is_node, is_virtual;
};

/* The logs of a segment: in the order of the device, numbered from FIRST on. */
struct logindex_segment {
	struct logindex *ix;	/* that has them */
	uint64_t first;
	uint32_t n;
	uint32_t nsame;		/* of these from the first on that have the
				   sequence number of the first */
};

/*
 * An empty index for a volume with geometry GEO.  BASE, another one, borrowed,
 * is asked for the segments that no overlay has changed, if it is of the same
 * geometry; NULL: none.  -ENOMEM.
 */
int logindex_open(struct logindex **ixp, struct context *cx,
		  const struct nilfs_geometry *geo, struct logindex *base);

/* NULL is accepted. */
void logindex_close(struct logindex *ix);

/*
 * The logs of segment SEGNUM of VOL, which is searched by the first call, block
 * by block where there is no log.  What two reads in a row fail for is passed
 * over; a segment that VOL does not have is empty.  -ENOMEM, -ENOBUFS, -EINTR.
 */
int logindex_segment(struct logindex *ix, struct context *cx,
		     struct volume *vol, uint64_t segnum,
		     struct logindex_segment *s);

/* Whether a log begins segment SEGNUM, sound or not, or something that cannot be
   read. */
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

/* The log of S before block BLOCKNR or at it, of the first N: 1 and *LOG, 0.
   -ENOMEM. */
int logindex_find_log(struct context *cx, const struct logindex_segment *s,
		      uint32_t n, uint64_t blocknr, struct logindex_log *log);

/* The extent of LOG that has block BLOCKNR: 1 and *E, 0.  -ENOMEM. */
int logindex_find_extent(struct logindex *ix, struct context *cx,
			 const struct logindex_log *log, uint64_t blocknr,
			 struct logindex_extent *e);

/* Block I of E, an extent of LOG; what the summary says about the file as a whole is
   0. */
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
