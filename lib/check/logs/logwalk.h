/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checking the logs of one segment one after the other.
 */
#ifndef NILFS2_CHECK_LOGWALK_H
#define NILFS2_CHECK_LOGWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"
#include "check/logs/claims.h"
#include "vol/summary.h"

enum logwalk_mode {
	/* Blocks in use end with a log; where the logs cannot be followed that
	   is one finding, and the segment one of c->broken_segments. */
	LOGWALK_EXACT,
	/* How many are in use is not known: logs end where they end. */
	LOGWALK_LOOSE,
	/* The same in a segment that is marked as erroneous: logs that cannot be
	   read or followed are no finding; c->logs_shut is set where something
	   lives. */
	LOGWALK_SHUT,
};

/* Of one worker. */
struct logwalk {
	struct check *c;
	struct volume *vol;		/* the worker's own */
	/*
	 * Shared by all workers: sequence numbers of segments that were seen,
	 * each as its distance from the latest one.
	 */
	struct sparse *sequences;
	struct summary summary;
	struct claims claims;

	/* The segment, and the log in it. */
	uint64_t segnum, start, end;	/* blocks in use */
	uint64_t pseg;
	uint64_t seq;			/* of the segment, valid if any */
	uint64_t odd;			/* that of one log alone, or 0 */
	bool any;
	enum logwalk_mode mode;
	bool broken;			/* what follows cannot be determined */
	bool doubtful;			/* the log before had a wrong header */
	uint16_t flags;			/* of the log before, valid if follows */
	bool follows;
};

void logwalk_init(struct logwalk *w, struct check *c, struct volume *vol,
		  struct sparse *sequences);
void logwalk_fini(struct logwalk *w);

/*
 * Checks the logs in the first NBLOCKS blocks of SEGNUM, and takes back the
 * claims of what they list.  0, or a failure of the checker.
 */
int logwalk_segment(struct logwalk *w, struct context *cx, uint64_t segnum,
		    uint32_t nblocks, enum logwalk_mode mode);

#endif
