/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the output of logs is made of: logjob.c does the jobs that logout.c
 * gives.
 */
#ifndef NILFS2_LOG_LOGJOB_H
#define NILFS2_LOG_LOGJOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/jobqueue.h"
#include "base/ticket.h"
#include "log/inflight.h"
#include "log/logbuf.h"
#include "log/logcut.h"
#include "log/logout.h"
#include "log/logspace.h"
#include "log/logsum.h"

struct logout {
	struct dev *dev;
	const struct nilfs_geometry *g;
	struct jobqueue *crew;
	struct logbuf *buffers;	/* one per worker */
	uint32_t chunk_blocks;
	bool sequential;
	struct logspace space;
	uint64_t given;		/* logs submitted */
	bool with_digest;
	struct logsum_digest digest;
	struct ticket turn;	/* of logs, for sequential output */
	struct inflight inflight;
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
	uint64_t number;
	uint32_t left;		/* chunks not yet done; atomic */
	uint32_t failed;	/* a chunk is missing; atomic */
	uint32_t nchunks;
	struct inflight_log *blocks;
	struct logjob_chunk chunks[];
};

/*
 * Crew jobs: a chunk of several (a struct logjob_chunk), or a whole log (a
 * struct logjob).  The last one drops the job.
 */
int logjob_do_chunk(struct context *cx, void *arg, unsigned int worker,
		    bool skip);
int logjob_do_log(struct context *cx, void *arg, unsigned int worker,
		  bool skip);

/* Frees JOB, whose log has arrived unless it FAILED. */
void logjob_drop(struct logjob *job, bool failed);

/* Frees what LOG holds. */
void logjob_drop_log(struct logout_log *log);

#endif
