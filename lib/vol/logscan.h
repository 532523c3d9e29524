/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The logs of a segment, one after the other.
 */
#ifndef NILFS2_VOL_LOGSCAN_H
#define NILFS2_VOL_LOGSCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct volume;

struct log {
	uint64_t pseg;			/* its first block */
	uint32_t nblocks;		/* its length, inside the segment */
	struct nilfs_segment_summary ss;
};

struct logscan {
	struct volume *vol;
	uint64_t segnum;
	uint64_t pseg, end;	/* next log, one past the last block to read */
	uint64_t seq;		/* of the first log, if ANY */
	bool any;
};

/*
 * Starts at the first log of SEGNUM and scans its first NBLOCKS blocks, as
 * counted in the SUFILE, or all if NBLOCKS is 0.
 */
int logscan_open(struct logscan *scan, struct context *cx, struct volume *vol,
		 uint64_t segnum, uint32_t nblocks);

/*
 * Steps: 1 and *LOG for a log with a valid summary and the sequence number of the
 * first one; 0 if no such log follows; -EIO.  Logs of a former use of the segment
 * have another number and end the scan.
 */
int logscan_next(struct logscan *scan, struct context *cx, struct log *log);

#endif
