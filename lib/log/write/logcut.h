/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload of a log split into chunks, each of which one worker fills and
 * writes at once.
 *
 * Runs of a forecast have no content (payload_ops.fill), and are not written
 * unless the whole log is needed.
 */
#ifndef NILFS2_LOG_LOGCUT_H
#define NILFS2_LOG_LOGCUT_H

#include <stdbool.h>
#include <stdint.h>

#include "log/write/logout.h"

/* A chunk of the payload.  All zeros: before the first one. */
struct logcut {
	uint32_t at;		/* first block in the payload */
	uint32_t count;
	uint32_t run;		/* index of the run of LOG where it begins */
	uint32_t skip;		/* blocks of that run before it */
	uint32_t next_run;	/* run and skip of the next chunk */
	uint32_t next_skip;
};

/*
 * Moves *CUT to the next chunk; false at the end of LOG, whose runs must have
 * npayload blocks in total.  SIZE (>= 1) is the length of a chunk in blocks: it
 * is never more than 2 * SIZE, and except for the last one not less than three
 * quarters.
 */
bool logcut_next(struct logcut *cut, const struct logout_log *log,
		 uint32_t size);

/*
 * Finds the next blocks of chunk CUT of LOG, at or after *FROM, that have
 * content: *COUNT from *FROM on, counted from the beginning of the chunk; false
 * if there are no more.
 */
bool logcut_filled(const struct logout_log *log, const struct logcut *cut,
		   uint32_t *from, uint32_t *count);

#endif
