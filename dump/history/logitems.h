/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All logs on the device, including those of earlier uses, and their blocks. */
#ifndef NILFS2_DUMP_LOGITEMS_H
#define NILFS2_DUMP_LOGITEMS_H

#include <stdint.h>

#include "base/context.h"
#include "base/pairtable.h"
#include "check/logs/logindex.h"
#include "disk/segsum.h"

struct volume;

/* All zero: closed. */
struct logitems {
	struct volume *vol;		/* borrowed */
	struct logindex *ix;
	struct pairtable proven;	/* results of logitems_is_proven() */

	struct logindex_cursor at;	/* in the current log */
	uint64_t segnum;		/* the segment after that of the log */

	struct logindex_segment segment;
	uint32_t nlogs;			/* logs of the segment returned */
};

/* Begins before the first log of VOL.  -ENOMEM. */
int logitems_open(struct logitems *l, struct context *cx, struct volume *vol);
void logitems_close(struct logitems *l);

/* Returns to the beginning.  The summaries are not read again. */
void logitems_rewind(struct logitems *l);

/*
 * Steps to the next log with a valid summary, in the order of the device: 1, 0 at
 * the end.  Logs do not overlap, and unreadable blocks are skipped.  -ENOMEM,
 * -ENOBUFS, -EINTR.
 */
int logitems_next_log(struct logitems *l, struct context *cx);

/* Steps to the next block that the current log lists: 1 and *B, 0 at the end.
   -ENOMEM. */
int logitems_next_block(struct logitems *l, struct context *cx,
			struct segsum_block *b);

/* Steps to the next block with a virtual number that any log lists: 1 and *B, 0 at
   the end.  Fails as logitems_next_log(). */
int logitems_next(struct logitems *l, struct context *cx,
		  struct segsum_block *b);

/* Whether the log at block PSEG has a valid summary and the right checksum over
   all its blocks: 1, 0.  -ENOMEM, -EINTR. */
int logitems_check(struct volume *vol, struct context *cx, uint64_t pseg);

/* The same; the result is kept in memory for the next call. */
int logitems_is_proven(struct logitems *l, struct context *cx, uint64_t pseg);

/* Whether checkpoint CNO may have the block BLOCKNR with virtual number VBLOCKNR: the
   DAT says so, or its entry cannot be read. */
bool logitems_may_have(struct volume *vol, struct context *cx,
		       uint64_t vblocknr, uint64_t blocknr, uint64_t cno);

/* The checkpoint with which block B of the current log was written; 0: unknown. */
static inline uint64_t logitems_cno(const struct logitems *l,
				    const struct segsum_block *b)
{
	return b->cno ? b->cno : l->at.log.cno;
}

#endif
