// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The worker pool.
 *
 * Workers take job numbers from one counter.  Since numbers are handed out in
 * order and a started job always runs to its end, every job below a failed
 * one has been run; keeping the lowest failure therefore gives an answer that
 * does not depend on timing.
 *
 * There is no queue and no idle thread between runs: a run lasts long enough
 * for thread creation not to matter, or it should not use threads.
 */
#include "config.h"

#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define WORKERS_MAX 1024

struct pool {
	pool_job *fn;
	void *arg;
	uint64_t jobs;
	pthread_mutex_t lock;
	uint64_t next;	    /* next job to hand out */
	uint64_t failed;    /* lowest failed job, or JOBS */
	int ret;	    /* its failure */
	struct context *cx; /* and its text */
};

struct worker {
	struct pool *pool;
	struct context cx;
	unsigned int number;
	pthread_t thread;
};

static uint64_t take_job(struct pool *pool)
{
	uint64_t job = pool->jobs;

	pthread_mutex_lock(&pool->lock);
	if (pool->failed == pool->jobs && pool->next < pool->jobs)
		job = pool->next++;
	pthread_mutex_unlock(&pool->lock);
	return job;
}

static void report(struct pool *pool, struct context *cx, uint64_t job, int ret)
{
	pthread_mutex_lock(&pool->lock);
	if (job < pool->failed) {
		pool->failed = job;
		pool->ret = ret;
		context_adopt(pool->cx, cx);
	}
	pthread_mutex_unlock(&pool->lock);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;
	uint64_t job;

	while ((job = take_job(pool)) < pool->jobs) {
		int ret = context_cancelled(&worker->cx);

		if (!ret)
			ret = pool->fn(&worker->cx, pool->arg, worker->number,
				       job);
		if (ret)
			report(pool, &worker->cx, job, ret);
	}
	return NULL;
}

unsigned int pool_workers(const struct context *cx, uint64_t jobs)
{
	uint64_t n = cx->threads;

	if (n > jobs)
		n = jobs;
	if (n > WORKERS_MAX)
		n = WORKERS_MAX;
	return n ? (unsigned int)n : 1;
}

/* Starts workers 1..N-1 and returns how many run: fewer will do as well. */
static unsigned int start(struct worker *workers, unsigned int n)
{
	sigset_t all, before;
	unsigned int i;

	/* Signals are for the caller's thread, which knows what they mean. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 1; i < n; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return i;
}

int pool_run(struct context *cx, uint64_t jobs, pool_job *fn, void *arg)
{
	struct pool pool = {
		.fn = fn,
		.arg = arg,
		.jobs = jobs,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.failed = jobs,
		.cx = cx,
	};
	unsigned int i, n = pool_workers(cx, jobs);
	struct worker *workers = calloc(n, sizeof(*workers));

	if (!workers)
		return fail(cx, -ENOMEM, "%u workers", n);
	for (i = 0; i < n; i++) {
		workers[i].pool = &pool;
		workers[i].number = i;
		context_child(cx, &workers[i].cx);
	}
	n = start(workers, n);
	work(&workers[0]);
	for (i = 1; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	return pool.ret;
}
