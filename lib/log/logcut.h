/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The payload of a log cut into chunks, each of which one worker fills and
 * writes at once.
 */
#ifndef NILFS2_LOG_LOGCUT_H
#define NILFS2_LOG_LOGCUT_H

#include <stdbool.h>
#include <stdint.h>

#include "log/logout.h"

/* A chunk of the payload.  All zeros stand before the first. */
struct logcut {
	uint32_t at;		/* first block in the payload */
	uint32_t count;
	uint32_t piece;		/* where it begins: the piece */
	uint32_t skip;		/* and the blocks of it that come before */
	uint32_t next_piece;	/* the same of what follows */
	uint32_t next_skip;
};

/*
 * Moves *CUT to the chunk after it; false at the end of LOG, whose pieces
 * must have npayload blocks together.  SIZE (>= 1) is the length of a chunk in
 * blocks: it is never more than 2 * SIZE, and but for the last one not less
 * than three quarters.
 */
bool logcut_next(struct logcut *cut, const struct logout_log *log,
		 uint32_t size);

/* Not less than the number of chunks that NPAYLOAD blocks are cut into. */
uint32_t logcut_most(uint32_t npayload, uint32_t size);

#endif
