/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which blocks are on their way to the device: one thread enters logs and asks,
 * others say when a log has arrived.
 */
#ifndef NILFS2_LOG_INFLIGHT_H
#define NILFS2_LOG_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct inflight_log {
	uint64_t first;
	uint64_t end;		/* block after it; 0: arrived.  Atomic */
};

struct inflight {
	struct inflight_log *logs;
	size_t n;
	bool lost;		/* one will never arrive; atomic */
};

/* For at most N logs at once.  -ENOMEM. */
int inflight_init(struct inflight *f, struct context *cx, size_t n);
void inflight_fini(struct inflight *f);		/* also where all is zero */

/* COUNT blocks from FIRST on leave; NULL where there is no room for more. */
struct inflight_log *inflight_enter(struct inflight *f, uint64_t first,
				    uint64_t count);

/* LOG (NULL: none) is on the device, or, with LOST, will never be. */
void inflight_arrived(struct inflight *f, struct inflight_log *log, bool lost);

/* False where BLOCKNR is on the device if it is anywhere. */
bool inflight_has(const struct inflight *f, uint64_t blocknr);

#endif
