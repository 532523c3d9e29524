/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workers and their queue of jobs.
 *
 * A pool accepts jobs at any time, and when too many wait, the thread that gives
 * them runs one itself.  Jobs begin in the order in which they are given.
 */
#ifndef NILFS2_BASE_POOL_H
#define NILFS2_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

struct pool;

/* The number of workers for JOBS jobs; at least 1. */
unsigned int pool_workers(const struct context *cx, uint64_t jobs);

/*
 * One job.  CX is the worker's own context; WORKER < pool_workers() is the number of
 * the worker, for state per worker.  With SKIP, set after an earlier job has failed
 * or the user has asked to stop, the job only frees ARG, and its return value is
 * ignored.  Otherwise it returns 0 or a negative errno with the failure text set.
 */
typedef int pool_job(struct context *cx, void *arg, unsigned int worker,
		     bool skip);

/*
 * Starts N - 1 threads, N as of pool_workers(); the giving thread, always the same,
 * is the last worker.  At most DEPTH (>= 1) jobs wait; without threads a job is run
 * when it is given.  -ENOMEM.
 */
int pool_open(struct pool **poolp, struct context *cx, unsigned int n,
	      unsigned int depth);

/*
 * Gives a job; ownership of ARG is transferred, also on failure.  Unless LEFT is
 * NULL, *LEFT (0 before the first job) counts the jobs that are not done.  Returns
 * the failure of the earliest job that failed so far, with its text in CX.  After
 * all jobs were waited for, the result is the same in every run.  -EINTR after the
 * user has asked to stop.
 */
int pool_give(struct pool *pool, struct context *cx, pool_job *fn, void *arg,
	      unsigned int *left);

/*
 * Works until *LEFT is 0, while other jobs may still run; LEFT NULL: until no job
 * waits or runs.  Fails as pool_give(); with CX NULL the failure is dropped.
 */
int pool_wait(struct pool *pool, struct context *cx, const unsigned int *left);

/*
 * For use inside a job of WORKER: sleeps until all earlier jobs are done.  False if
 * one of them has failed.
 */
bool pool_wait_earlier(struct pool *pool, unsigned int worker);

/* Skips waiting jobs and ends the threads; NULL is accepted. */
void pool_close(struct pool *pool);

/*
 * Runs FN for the numbers [0, JOBS), on pool_workers(CX, JOBS) workers, and returns
 * when all have ended.  They begin in order; after a failure or a request to stop no
 * further one begins.  Fails as pool_give().
 */
typedef int pool_numbered(struct context *cx, void *arg, unsigned int worker,
			  uint64_t number);
int pool_run(struct context *cx, uint64_t jobs, pool_numbered *fn, void *arg);

#endif
