/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs that come one after another, for a few threads that stay.
 *
 * Where pool.h runs a known number of jobs and returns, a crew takes jobs as
 * their maker thinks of them, and holds the maker up when too many wait: it
 * then does one itself.  Jobs are begun in the order they were given.
 */
#ifndef NILFS2_BASE_JOBQUEUE_H
#define NILFS2_BASE_JOBQUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"

struct jobqueue;

/*
 * One job.  CX is the worker's own context, WORKER < jobqueue_workers() its
 * number.  With SKIP, set once an earlier job has failed or the user asked to
 * stop, it only frees ARG; what it returns then does not count.
 */
typedef int jobqueue_job(struct context *cx, void *arg, unsigned int worker,
			 bool skip);

/*
 * Starts CX->threads - 1 threads; the one that gives jobs, always the same, is
 * the last worker.  At most DEPTH (>= 1) jobs wait; without a thread none
 * does, but is done when it is given.  -ENOMEM.
 */
int jobqueue_open(struct jobqueue **crewp, struct context *cx,
		  unsigned int depth);
unsigned int jobqueue_workers(const struct jobqueue *crew);

/*
 * Gives a job; ARG is the crew's from now on, also where this fails.  Returns
 * the failure of the earliest job that failed so far, with its text in CX, or
 * -EINTR once the user asked to stop.
 */
int jobqueue_give(struct jobqueue *crew, struct context *cx, jobqueue_job *fn,
		  void *arg);

/*
 * The same for a job that *LEFT, 0 before the first, counts until it is done;
 * and working until none of those is left.  What else was given may still run,
 * and whether any of it failed the next gift tells.
 */
int jobqueue_give_for(struct jobqueue *crew, struct context *cx,
		      jobqueue_job *fn, void *arg, unsigned int *left);
void jobqueue_wait_for(struct jobqueue *crew, const unsigned int *left);

/* Works until no job waits or runs; fails as jobqueue_give(). */
int jobqueue_wait(struct jobqueue *crew, struct context *cx);

/* Lets what still waits be skipped, ends the threads; NULL is accepted. */
void jobqueue_close(struct jobqueue *crew);

#endif
