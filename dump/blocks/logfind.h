/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the log that contains a block, for the commands block and set. */
#ifndef NILFS2_DUMP_LOGFIND_H
#define NILFS2_DUMP_LOGFIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/segsum.h"
#include "vol/logscan.h"

struct volume;

enum logfind_part {
	LOGFIND_NONE,		/* in no log */
	LOGFIND_SUMMARY,
	LOGFIND_SUPER_ROOT,
	LOGFIND_PAYLOAD,
	LOGFIND_UNLISTED,	/* in a log whose summary does not list it */
};

struct logfind {
	enum logfind_part part;
	bool chained;		/* the log follows others from the start */
	struct log log;
	struct segsum_block block;	/* of the payload */
};

/*
 * Finds the log that contains block BLOCKNR, which is in a segment: among the logs
 * that follow each other from the beginning of the segment, otherwise after them.
 * -EIO, -ENOMEM.
 */
int logfind_block(struct logfind *f, struct context *cx, struct volume *vol,
		  uint64_t blocknr);

#endif
