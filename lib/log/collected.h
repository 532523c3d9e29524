/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Complete blocks that are not listed yet: nodes of files, blocks of
 * directories.
 */
#ifndef NILFS2_LOG_COLLECTED_H
#define NILFS2_LOG_COLLECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/appender.h"
#include "log/write/loglayout.h"
#include "log/write/payload.h"

/* Blocks of one payload that are listed one after the other. */
struct collected_run {
	struct loglayout_run run;
	struct payload *payload;	/* a holder */
	uint64_t at;
};

/* All zero is empty. */
struct collected {
	struct collected_run *runs;
	size_t nruns, room;
	size_t first;			/* the ones before are listed */
	uint64_t nblocks;		/* that wait */
	/* The payload that is being filled. */
	struct payload *payload;
	uint8_t *data;
	uint32_t used, size;		/* blocks */
};

/* Adds BLOCK, listed as RUN says (its count is 1); the block is copied. */
int collected_add(struct collected *c, struct context *cx,
		  const struct loglayout_run *run, const void *block,
		  uint32_t block_size);

/*
 * Lists the collected blocks; with HERE only as many as fit into the open log,
 * which may be none.
 */
int collected_list(struct collected *c, struct context *cx,
		   struct appender *a, bool here);

void collected_fini(struct collected *c);

#endif
