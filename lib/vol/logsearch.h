/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Searching for logs that no metadata refers to.
 */
#ifndef NILFS2_VOL_LOGSEARCH_H
#define NILFS2_VOL_LOGSEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/logscan.h"
#include "vol/summary.h"

struct volume;

struct logsearch {
	struct volume *vol;
	uint64_t next, end;	/* blocks still to be searched */
	uint64_t ahead;		/* end of the blocks read ahead */
	bool between;		/* no log begins at the previous block */
	struct summary summary;
};

/*
 * Starts at block FROM of segment SEGNUM.  -EINVAL for a segment that the volume
 * does not have.  Must be closed with logsearch_close(), even after a failure.
 */
int logsearch_open(struct logsearch *search, struct context *cx,
		   struct volume *vol, uint64_t segnum, uint64_t from);

/*
 * Steps to the next block at which a decodable summary with the right ss_sumsum
 * begins, with any sequence number, and continues after that log: 1 and *LOG, 0 at
 * the end of the segment, -EIO, -ENOMEM.
 */
int logsearch_next(struct logsearch *search, struct context *cx,
		   struct log *log);

void logsearch_close(struct logsearch *search);

#endif
