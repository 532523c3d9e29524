/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all logs on the device list, also those that are not in use any more. */
#ifndef NILFS2_DUMP_LOGITEMS_H
#define NILFS2_DUMP_LOGITEMS_H

#include <stdint.h>

#include "base/context.h"
#include "disk/segsum.h"
#include "vol/logscan.h"

struct volume;

/* 0, or a failure that ends the search. */
typedef int logitems_visit(void *arg, struct context *cx,
			   const struct log *log,
			   const struct segsum_block *block);

/*
 * Calls VISIT for each block with a virtual number that a log with a sound
 * summary lists, whatever use of its segment the log is of, in the order of the
 * device.  Logs do not overlap: what was overwritten is not listed.  What
 * cannot be read is passed over.  -ENOMEM, -EINTR; failures of VISIT.
 */
int logitems_run(struct volume *vol, struct context *cx, logitems_visit *visit,
		 void *arg);

/* The checkpoint that the block was written with; 0: not known. */
static inline uint64_t logitems_cno(const struct log *log,
				    const struct segsum_block *b)
{
	return b->cno ? b->cno : segsum_cno(&log->ss);
}

#endif
