// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The worker pool.
 *
 * Jobs wait in a ring and are numbered in the order in which they are given.  Every
 * worker, including the giving thread, takes the oldest one, so when a job begins
 * all earlier ones have begun: a job may wait for an earlier one.  A job that has
 * begun runs to its end.  The failure with the lowest number is kept, so the result
 * does not depend on timing.
 *
 * Workers without a job sleep on one condition, a giver without work on another one,
 * jobs that wait for earlier ones on a third one.
 */
#include "config.h"

#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define WORKERS_MAX 1024
#define DEPTH_PER_WORKER 4	/* of pool_run() */
#define NONE UINT64_MAX

struct job {
	pool_job *fn;		/* NULL: that of pool_run() */
	void *arg;
	unsigned int *left;	/* counter of jobs, or NULL */
};

struct worker {
	struct pool *pool;
	struct context cx;
	unsigned int number;
	uint64_t job;		/* the number of its job, or NONE */
	pthread_t thread;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work;	/* a job waits, or the pool closes */
	pthread_cond_t empty;	/* no job (of a counter) waits or runs */
	pthread_cond_t done;	/* a job is done */
	struct job *ring;
	pool_numbered *numbered;	/* of pool_run() */
	unsigned int depth;
	unsigned int running;
	unsigned int waiting;	/* jobs that wait for earlier ones */
	uint64_t next;		/* number of the next job given */
	uint64_t first;		/* number of the oldest waiting job */
	bool closing;
	uint64_t failed;	/* lowest failed job, or NONE */
	int ret;		/* failure of that job */
	struct context failure;	/* text of that failure */
	unsigned int threads;
	struct worker workers[];	/* the giver follows the threads */
};

/* Records the failure of a worker's job; the lock is held. */
static void report_failure(struct pool *pool, const struct worker *worker,
			   int ret)
{
	if (worker->job >= pool->failed)
		return;
	pool->failed = worker->job;
	pool->ret = ret;
	context_adopt(&pool->failure, &worker->cx);
}

/* Runs the oldest job; the lock is held, but released while the job runs. */
static void pool_do_job(struct pool *pool, struct worker *worker)
{
	struct job job = pool->ring[pool->first % pool->depth];
	bool skip;
	int ret;

	worker->job = pool->first++;
	skip = pool->closing || pool->failed < worker->job;
	ret = skip ? 0 : context_cancelled(&worker->cx);
	if (ret) {
		report_failure(pool, worker, ret);
		skip = true;
	}
	pool->running++;
	pthread_mutex_unlock(&pool->lock);
	if (job.fn)
		ret = job.fn(&worker->cx, job.arg, worker->number, skip);
	else if (!skip)
		ret = pool->numbered(&worker->cx, job.arg, worker->number,
				     worker->job);
	pthread_mutex_lock(&pool->lock);
	pool->running--;
	if (ret && !skip)
		report_failure(pool, worker, ret);
	worker->job = NONE;
	if (pool->waiting)
		pthread_cond_broadcast(&pool->done);
	if (job.left && !--*job.left)
		pthread_cond_signal(&pool->empty);
	if (!pool->running && pool->first == pool->next)
		pthread_cond_signal(&pool->empty);
}

static void *pool_work(void *arg)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->first == pool->next && !pool->closing)
			pthread_cond_wait(&pool->work, &pool->lock);
		if (pool->first == pool->next)
			break;
		pool_do_job(pool, worker);
	}
	pthread_mutex_unlock(&pool->lock);
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

int pool_open(struct pool **poolp, struct context *cx, unsigned int n,
	      unsigned int depth)
{
	struct pool *pool = calloc(1, sizeof(*pool) +
					      n * sizeof(*pool->workers));
	sigset_t all, before;
	unsigned int i;

	if (pool)
		pool->ring = calloc(depth, sizeof(*pool->ring));
	if (!pool || !pool->ring) {
		free(pool);
		return fail(cx, -ENOMEM, "%u workers", n);
	}
	pool->depth = depth;
	pool->failed = NONE;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->empty, NULL);
	pthread_cond_init(&pool->done, NULL);
	for (i = 0; i < n; i++) {
		pool->workers[i].pool = pool;
		pool->workers[i].number = i;
		pool->workers[i].job = NONE;
		context_child(cx, &pool->workers[i].cx);
	}
	/* Continue with fewer threads.  Signals are handled by the caller's thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (pool->threads < n - 1 &&
	       !pthread_create(&pool->workers[pool->threads].thread, NULL,
			       pool_work, &pool->workers[pool->threads]))
		pool->threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	*poolp = pool;
	return 0;
}

/* The failure so far; the lock is held. */
static int pool_verdict(struct pool *pool, struct context *cx)
{
	if (pool->failed == NONE)
		return context_cancelled(cx);
	context_adopt(cx, &pool->failure);
	return pool->ret;
}

int pool_give(struct pool *pool, struct context *cx, pool_job *fn, void *arg,
	      unsigned int *left)
{
	struct worker *giver = &pool->workers[pool->threads];
	int ret;

	pthread_mutex_lock(&pool->lock);
	if (left)
		++*left;
	while (pool->next - pool->first == pool->depth)
		pool_do_job(pool, giver);
	pool->ring[pool->next++ % pool->depth] = (struct job){ fn, arg, left };
	if (pool->threads)
		pthread_cond_signal(&pool->work);
	else
		pool_do_job(pool, giver);
	ret = pool_verdict(pool, cx);
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

int pool_wait(struct pool *pool, struct context *cx, const unsigned int *left)
{
	int ret;

	pthread_mutex_lock(&pool->lock);
	while (left ? *left : pool->running || pool->first != pool->next) {
		if (pool->first != pool->next)
			pool_do_job(pool, &pool->workers[pool->threads]);
		else
			pthread_cond_wait(&pool->empty, &pool->lock);
	}
	ret = cx ? pool_verdict(pool, cx) : 0;
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

bool pool_wait_earlier(struct pool *pool, unsigned int worker)
{
	unsigned int i = 0;
	uint64_t number;
	bool good;

	pthread_mutex_lock(&pool->lock);
	number = pool->workers[worker].job;
	pool->waiting++;
	/* Earlier jobs have begun: they are running or done. */
	while (i <= pool->threads) {
		if (pool->workers[i++].job >= number)
			continue;
		pthread_cond_wait(&pool->done, &pool->lock);
		i = 0;
	}
	pool->waiting--;
	good = pool->failed > number;
	pthread_mutex_unlock(&pool->lock);
	return good;
}

void pool_close(struct pool *pool)
{
	unsigned int i;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	pool_wait(pool, NULL, NULL);
	for (i = 0; i < pool->threads; i++)
		pthread_join(pool->workers[i].thread, NULL);
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->empty);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool->ring);
	free(pool);
}

int pool_run(struct context *cx, uint64_t jobs, pool_numbered *fn, void *arg)
{
	unsigned int n = pool_workers(cx, jobs);
	struct pool *pool;
	uint64_t i;
	int ret = pool_open(&pool, cx, n, n * DEPTH_PER_WORKER);

	if (ret)
		return ret;
	pool->numbered = fn;
	for (i = 0; i < jobs && !ret; i++)
		ret = pool_give(pool, cx, NULL, arg, NULL);
	/* An earlier job may still fail. */
	if (jobs)
		ret = pool_wait(pool, cx, NULL);
	pool_close(pool);
	return ret;
}
