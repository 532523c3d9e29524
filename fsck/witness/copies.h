/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs with one wrong block, of which an equal older version exists. */
#ifndef NILFS2_FSCK_COPIES_H
#define NILFS2_FSCK_COPIES_H

#include "base/context.h"
#include "check/logs/logbits.h"
#include "find/finding.h"

struct copies_log;

/* Logs whose summary is right, and whose payload is not.  All zero is empty. */
struct copies {
	struct copies_log *logs;
	size_t n, room;
};

/* Adds the log that LB summed up if no bit explains its checksum: 0, -ENOMEM. */
int copies_add(struct copies *c, struct context *cx, const struct logbits *lb);

/*
 * Looks, in the logs of all segments, for other versions of the data blocks of these
 * logs.  One with which the checksum of its log matches becomes a finding: the block
 * that is wrong, and where the right content is.  LB is for reading.  -EINTR, -ENOMEM.
 */
int copies_search(struct copies *c, struct context *cx, struct logbits *lb,
		  struct findings *findings);

void copies_fini(struct copies *c);

#endif
