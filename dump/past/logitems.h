/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all logs on the device list, also those that are not in use any more. */
#ifndef NILFS2_DUMP_LOGITEMS_H
#define NILFS2_DUMP_LOGITEMS_H

#include <stdint.h>

#include "base/context.h"
#include "base/pairtable.h"
#include "disk/segsum.h"
#include "vol/logsearch.h"

struct volume;

/* A log with a sound summary, which SEARCH has read.  0, or a failure that ends. */
typedef int logitems_log(void *arg, struct context *cx,
			 struct logsearch *search, const struct log *log);

/*
 * Calls VISIT for each log of segment SEGNUM, whatever use of the segment it is
 * of, in the order of the device.  Logs do not overlap: what was overwritten is
 * not listed.  What cannot be read is passed over.  -ENOMEM, -EINTR; failures of
 * VISIT.
 */
int logitems_segment(struct volume *vol, struct context *cx, uint64_t segnum,
		     logitems_log *visit, void *arg);

/* 0, or a failure that ends the search. */
typedef int logitems_visit(void *arg, struct context *cx,
			   const struct log *log,
			   const struct segsum_block *block);

/* The same for each block with a virtual number that logs list, of all segments. */
int logitems_run(struct volume *vol, struct context *cx, logitems_visit *visit,
		 void *arg);

/*
 * Whether the log at block PSEG has a sound summary and the right checksum over
 * all its blocks: 1, 0.  PROVEN, at first all zero, keeps what was found, and is
 * freed by the caller.  -ENOMEM, -EINTR.
 */
int logitems_is_proven(struct volume *vol, struct context *cx,
		       struct pairtable *proven, uint64_t pseg);

/* The checkpoint that the block was written with; 0: not known. */
static inline uint64_t logitems_cno(const struct log *log,
				    const struct segsum_block *b)
{
	return b->cno ? b->cno : segsum_cno(&log->ss);
}

#endif
