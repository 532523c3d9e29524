/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What deleting checkpoints would free. */
#ifndef NILFS2_DUMP_FREED_H
#define NILFS2_DUMP_FREED_H

#include <stdint.h>

#include "base/context.h"
#include "cli/range.h"

struct volume;

struct freed {
	uint64_t checkpoints; /* that would be deleted, snapshots too */
	uint64_t snapshots;
	uint64_t unique; /* blocks that no other checkpoint has */
	uint64_t held;	 /* blocks of these snapshots, and of no other one */
};

/*
 * Counts what deleting the checkpoints in RANGES, the latest one excepted,
 * would free: all blocks that are then in no checkpoint, and those that a
 * cleaner keeps now and would not keep then.  -ENOENT for a range without
 * checkpoints; fails as cptable_list() and datscan_run(), too.
 */
int freed_count(struct volume *vol, struct context *cx,
		struct range_set *ranges, struct freed *freed);

#endif
