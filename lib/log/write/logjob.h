/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the output of logs is made of: logjob.c does the jobs that logout.c
 * gives.
 */
#ifndef NILFS2_LOG_LOGJOB_H
#define NILFS2_LOG_LOGJOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "log/write/logcut.h"
#include "log/write/logout.h"
#include "log/write/logsum.h"

/* From which a worker writes; all zero: not allocated. */
struct logjob_buffer {
	uint8_t *p;
	size_t size;
};

/* The blocks of a log on its way. */
struct logjob_range {
	uint64_t first, end;
	unsigned int left;	/* jobs; of the pool */
};

struct logout {
	struct dev *dev;
	const struct nilfs_geometry *g;
	struct pool *pool;
	struct logjob_buffer *buffers;	/* one per worker */
	unsigned int nworkers;
	uint32_t chunk_blocks;
	bool sequential;
	uint64_t space_at_once;	/* bytes to ask for, 0: never ask */
	uint64_t space_to;	/* bytes of the device that were asked for */
	uint64_t given;		/* logs submitted */
	bool with_digest;
	struct logsum_digest digest;
	struct logjob_range *ranges;	/* of the last logs, in turn */
	unsigned int nranges;
};

struct logjob_chunk {
	struct logjob *job;
	struct logcut part;
	uint32_t sum;		/* of its bytes alone */
};

/* A log on its way. */
struct logjob {
	struct logout *out;
	struct logout_log log;
	uint32_t left;		/* chunks not yet done; atomic */
	uint32_t failed;	/* a chunk is missing; atomic */
	uint32_t nchunks;
	struct logjob_chunk chunks[];
};

/*
 * Jobs of the pool: a chunk of several (a struct logjob_chunk), or a whole log (a
 * struct logjob).  The last one drops the job.
 */
int logjob_do_chunk(struct context *cx, void *arg, unsigned int worker,
		    bool skip);
int logjob_do_log(struct context *cx, void *arg, unsigned int worker,
		  bool skip);

/* Frees what LOG holds. */
void logjob_drop_log(struct logout_log *log);

void logjob_free_buffer(struct logjob_buffer *b);

#endif
