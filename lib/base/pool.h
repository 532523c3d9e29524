/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Independent jobs on several workers. */
#ifndef NILFS2_BASE_POOL_H
#define NILFS2_BASE_POOL_H

#include <stdint.h>

#include "base/context.h"

/*
 * One job.  CX is the worker's own context; WORKER < pool_workers() numbers
 * the worker, for state that each worker has once.  0 or a negative errno
 * with the failure text set.
 */
typedef int pool_job(struct context *cx, void *arg, unsigned int worker,
		     uint64_t job);

/*
 * Runs jobs [0, JOBS) and returns when all have ended.  Jobs start in order,
 * on at most CX->threads workers, the caller's thread being one of them; with
 * one worker they run one after another and no thread is made.
 *
 * After a failure or the user's wish to stop no further job starts.  Returned
 * is the failure of the lowest-numbered failed job, the same in every run
 * whatever the timing, with its text in CX; -EINTR if the user stopped it.
 */
int pool_run(struct context *cx, uint64_t jobs, pool_job *fn, void *arg);

/* How many workers pool_run() uses at most for JOBS jobs; at least 1. */
unsigned int pool_workers(const struct context *cx, uint64_t jobs);

#endif
