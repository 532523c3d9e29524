// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The crew.
 *
 * Jobs wait in a ring and are numbered as they come.  Every worker, the giver
 * among them, takes the oldest, so when a job begins all earlier ones have
 * begun: whoever waits inside a job for an earlier one waits for somebody who
 * is at work.  A begun job runs to its end.  Keeping the failure of the lowest
 * number therefore gives an answer that does not depend on timing.
 *
 * Idle workers sleep on one condition, a giver that has nothing left to do
 * itself on another.  A crew of one has no thread and no queue: a job is done
 * when it is given.
 */
#include "config.h"

#include "base/jobqueue.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define WORKERS_MAX 1024

struct job {
	jobqueue_job *fn;
	void *arg;
	unsigned int *left;	/* counts it, or NULL */
};

struct worker {
	struct jobqueue *crew;
	struct context cx;
	unsigned int number;
	pthread_t thread;
};

struct jobqueue {
	pthread_mutex_t lock;
	pthread_cond_t work;	/* a job waits, or the crew closes */
	pthread_cond_t idle;	/* nothing waits or runs; or of some */
	struct job *ring;
	unsigned int depth;
	unsigned int running;
	uint64_t next;		/* number of the next job given */
	uint64_t first;		/* number of the oldest that waits */
	bool closing;
	uint64_t failed;	/* lowest failed job, UINT64_MAX: none */
	int ret;		/* its failure */
	struct context failure;	/* and its text */
	unsigned int threads;
	struct worker workers[];	/* the giver is after the threads */
};

/* Takes note of the failure of a job; the lock is held. */
static void report(struct jobqueue *crew, const struct worker *worker,
		   uint64_t number, int ret)
{
	if (number >= crew->failed)
		return;
	crew->failed = number;
	crew->ret = ret;
	context_adopt(&crew->failure, &worker->cx);
}

/* Does the oldest job; the lock is held, and let go meanwhile. */
static void do_job(struct jobqueue *crew, struct worker *worker)
{
	uint64_t number = crew->first++;
	struct job job = crew->ring[number % crew->depth];
	bool skip = crew->closing || crew->failed < number;
	int ret = 0;

	if (!skip)
		ret = context_cancelled(&worker->cx);
	if (ret) {
		report(crew, worker, number, ret);
		skip = true;
	}
	crew->running++;
	pthread_mutex_unlock(&crew->lock);
	ret = job.fn(&worker->cx, job.arg, worker->number, skip);
	pthread_mutex_lock(&crew->lock);
	crew->running--;
	if (ret && !skip)
		report(crew, worker, number, ret);
	if (job.left && !--*job.left)
		pthread_cond_signal(&crew->idle);
	if (!crew->running && crew->first == crew->next)
		pthread_cond_signal(&crew->idle);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct jobqueue *crew = worker->crew;

	pthread_mutex_lock(&crew->lock);
	for (;;) {
		while (crew->first == crew->next && !crew->closing)
			pthread_cond_wait(&crew->work, &crew->lock);
		if (crew->first == crew->next)
			break;
		do_job(crew, worker);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* Starts up to N threads: fewer will do as well. */
static void start(struct jobqueue *crew, unsigned int n)
{
	sigset_t all, before;
	unsigned int i;

	/* Signals are for the caller's thread, which knows what they mean. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < n; i++)
		if (pthread_create(&crew->workers[i].thread, NULL, work,
				   &crew->workers[i]))
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	crew->threads = i;
}

int jobqueue_open(struct jobqueue **crewp, struct context *cx,
		  unsigned int depth)
{
	unsigned int i, n = cx->threads ? cx->threads : 1;
	struct jobqueue *crew;

	if (n > WORKERS_MAX)
		n = WORKERS_MAX;
	crew = calloc(1, sizeof(*crew) + n * sizeof(*crew->workers));
	if (crew)
		crew->ring = calloc(depth, sizeof(*crew->ring));
	if (!crew || !crew->ring) {
		free(crew);
		return fail(cx, -ENOMEM, "%u workers", n);
	}
	crew->depth = depth;
	crew->failed = UINT64_MAX;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->work, NULL);
	pthread_cond_init(&crew->idle, NULL);
	for (i = 0; i < n; i++) {
		crew->workers[i].crew = crew;
		crew->workers[i].number = i;
		context_child(cx, &crew->workers[i].cx);
	}
	start(crew, n - 1);
	*crewp = crew;
	return 0;
}

unsigned int jobqueue_workers(const struct jobqueue *crew)
{
	return crew->threads + 1;
}

/* The failure so far; the lock is held. */
static int verdict(struct jobqueue *crew, struct context *cx)
{
	if (crew->failed == UINT64_MAX)
		return context_cancelled(cx);
	context_adopt(cx, &crew->failure);
	return crew->ret;
}

/* Puts JOB into the ring once it has room; the lock is held. */
static void give(struct jobqueue *crew, struct job job)
{
	struct worker *giver = &crew->workers[crew->threads];

	while (crew->next - crew->first == crew->depth)
		do_job(crew, giver);
	crew->ring[crew->next++ % crew->depth] = job;
	if (crew->threads)
		pthread_cond_signal(&crew->work);
	else
		do_job(crew, giver);
}

int jobqueue_give(struct jobqueue *crew, struct context *cx, jobqueue_job *fn,
		  void *arg)
{
	int ret;

	pthread_mutex_lock(&crew->lock);
	give(crew, (struct job){ .fn = fn, .arg = arg });
	ret = verdict(crew, cx);
	pthread_mutex_unlock(&crew->lock);
	return ret;
}

int jobqueue_give_for(struct jobqueue *crew, struct context *cx,
		      jobqueue_job *fn, void *arg, unsigned int *left)
{
	int ret;

	pthread_mutex_lock(&crew->lock);
	++*left;
	give(crew, (struct job){ fn, arg, left });
	ret = verdict(crew, cx);
	pthread_mutex_unlock(&crew->lock);
	return ret;
}

void jobqueue_wait_for(struct jobqueue *crew, const unsigned int *left)
{
	pthread_mutex_lock(&crew->lock);
	while (*left) {
		if (crew->first != crew->next)
			do_job(crew, &crew->workers[crew->threads]);
		else
			pthread_cond_wait(&crew->idle, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
}

/* Works and waits until nothing waits or runs; the lock is held. */
static void finish(struct jobqueue *crew)
{
	while (crew->first != crew->next)
		do_job(crew, &crew->workers[crew->threads]);
	while (crew->running)
		pthread_cond_wait(&crew->idle, &crew->lock);
}

int jobqueue_wait(struct jobqueue *crew, struct context *cx)
{
	int ret;

	pthread_mutex_lock(&crew->lock);
	finish(crew);
	ret = verdict(crew, cx);
	pthread_mutex_unlock(&crew->lock);
	return ret;
}

void jobqueue_close(struct jobqueue *crew)
{
	unsigned int i;

	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->closing = true;
	pthread_cond_broadcast(&crew->work);
	finish(crew);
	pthread_mutex_unlock(&crew->lock);
	for (i = 0; i < crew->threads; i++)
		pthread_join(crew->workers[i].thread, NULL);
	pthread_cond_destroy(&crew->idle);
	pthread_cond_destroy(&crew->work);
	pthread_mutex_destroy(&crew->lock);
	free(crew->ring);
	free(crew);
}
