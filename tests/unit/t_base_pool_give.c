// SPDX-License-Identifier: GPL-2.0-or-later
/* The pool: order, the giver's share, failures, the wish to stop. */
#include "config.h"

#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "tap.h"

#define JOBS 3000
#define NEVER UINT32_MAX

struct record {
	atomic_int runs[JOBS], skips[JOBS];
	atomic_uint turn;	/* jobs that ended in their order */
	atomic_int late, failures, wrong_worker, on_giver, wrong_thread;
	atomic_bool gate;	/* jobs wait until it is open */
	uint32_t opener;	/* this job opens it, run or skipped */
	bool in_turn;		/* a job waits for the one before */
	uint32_t fail_from;	/* every job from here on fails */
	uint32_t stop_at;
	struct pool *pool;	/* of those that wait for their turn */
	unsigned int workers;
	pthread_t giver;
	volatile sig_atomic_t stop;
};

struct job {
	struct record *r;
	uint32_t number;
};

static void doze(void)
{
	struct timespec while_others_work = {0, 100000};

	nanosleep(&while_others_work, NULL);
}

static void await_turn(struct record *r, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < 50000 && r->turn != number; i++)
		doze();
	r->late += r->turn != number;
	r->turn++;
}

static void note_worker(struct record *r, unsigned int worker)
{
	bool giver = pthread_equal(pthread_self(), r->giver);

	r->on_giver += giver;
	r->wrong_worker += worker >= r->workers;
	r->wrong_thread += giver != (worker == r->workers - 1);
}

static int do_job(struct context *cx, void *arg, unsigned int worker,
		  bool skip)
{
	struct record *r = ((struct job *)arg)->r;
	uint32_t i, number = ((struct job *)arg)->number;

	free(arg);
	if (number == r->opener)
		r->gate = true;
	if (skip) {
		r->skips[number]++;
		return fail(cx, -ENOTTY, "a skipped job does not count");
	}
	r->runs[number]++;
	for (i = 0; i < 20000 && !r->gate; i++)
		doze();
	note_worker(r, worker);
	if (r->in_turn)
		await_turn(r, number);
	if (number == r->stop_at)
		__atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
	if (number < r->fail_from)
		return 0;
	/* Let the lowest report after others, where there are others. */
	if (number == r->fail_from && r->workers > 1)
		doze();
	r->failures++;
	return fail(cx, number == r->fail_from ? -EIO : -ENOSPC, "job %u",
		    number);
}

static struct pool *begin(struct context *cx, struct record *r,
			      unsigned int threads, unsigned int depth)
{
	struct pool *pool;

	memset(r, 0, sizeof(*r));
	r->gate = true;
	r->fail_from = NEVER;
	r->stop_at = NEVER;
	r->opener = NEVER;
	r->giver = pthread_self();
	context_init(cx);
	cx->threads = threads;
	cx->cancel = &r->stop;
	r->workers = pool_workers(cx, UINT64_MAX);
	if (pool_open(&pool, cx, r->workers, depth))
		exit(99);
	return pool;
}

static int give(struct pool *pool, struct context *cx, struct record *r,
		uint32_t number)
{
	struct job *job = malloc(sizeof(*job));

	if (!job)
		exit(99);
	*job = (struct job){r, number};
	return pool_give(pool, cx, do_job, job, NULL);
}

static uint32_t not_once(const struct record *r, uint32_t jobs)
{
	uint32_t i, wrong = 0;

	for (i = 0; i < jobs; i++)
		wrong += r->runs[i] + r->skips[i] != 1;
	return wrong;
}

static void test_all(struct record *r, unsigned int threads, unsigned int depth)
{
	struct context cx;
	struct pool *pool = begin(&cx, r, threads, depth);
	uint32_t i, failed = 0, skips = 0;

	is_int(r->workers, threads, "as many workers as threads");
	r->in_turn = true;
	for (i = 0; i < JOBS; i++)
		failed += give(pool, &cx, r, i) != 0;
	is_int(failed, 0, "jobs are given");
	is_int(pool_wait(pool, &cx, NULL), 0, "and done");
	is_int(r->turn, JOBS, "all of them before the wait is over");
	is_int(r->late, 0, "a job can wait for an earlier one");
	is_int(not_once(r, JOBS), 0, "each ran once");
	for (i = 0; i < JOBS; i++)
		skips += r->skips[i];
	is_int(skips, 0, "none was skipped");
	is_int(r->wrong_worker + r->wrong_thread, 0,
	       "on numbered workers, the giver being the last");
	if (threads == 1)
		is_int(r->on_giver, JOBS, "without a thread");
	pool_close(pool);
}

/* Only the giver can work: it does so once DEPTH jobs wait. */
static void test_depth(struct record *r)
{
	struct context cx;
	struct pool *pool = begin(&cx, r, 2, 3);
	uint32_t i;

	r->gate = false;
	r->opener = 1;
	give(pool, &cx, r, 0);
	while (!r->runs[0])
		doze();
	for (i = 1; i <= 3; i++)
		give(pool, &cx, r, i);
	is_int(r->runs[1], 0, "with room in the queue a giver does not work");
	give(pool, &cx, r, i++);
	ok(r->on_giver > 0, "without room it does");
	for (; i < JOBS; i++)
		give(pool, &cx, r, i);
	is_int(pool_wait(pool, &cx, NULL), 0, "the queue is emptied");
	is_int(not_once(r, JOBS), 0, "each job ran once");
	is_int(pool_wait(pool, &cx, NULL), 0, "waiting for nothing is no failure");
	is_int(give(pool, &cx, r, 0), 0, "and more can be given");
	pool_close(pool);
	is_int(r->runs[0] + r->skips[0], 2, "which closing takes care of");
}

static int do_counted(struct context *cx, void *arg, unsigned int worker,
		     bool skip)
{
	const struct job *job = arg;
	struct record *r = job->r;

	if (skip) {
		r->skips[job->number]++;
		return 0;
	}
	r->runs[job->number]++;
	note_worker(r, worker);
	return job->number == r->fail_from ? fail(cx, -EIO, "counted") : 0;
}

/* Gives N jobs of JOBS that *LEFT counts; the failure of the last gift. */
static int give_counted(struct pool *pool, struct context *cx,
			struct record *r, struct job *jobs, uint32_t number,
			uint32_t n, unsigned int *left)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < n; i++) {
		jobs[i] = (struct job){ r, number + i };
		ret = pool_give(pool, cx, do_counted, &jobs[i], left);
	}
	return ret;
}

/* A wait for some jobs does not wait for what came before. */
static void test_wait_for(struct record *r, unsigned int threads)
{
	struct context cx;
	struct pool *pool = begin(&cx, r, threads, 4);
	struct job jobs[2][100];
	unsigned int left[2] = { 0 };
	uint32_t i, late = 0, to = 1;
	int ret = 0;

	r->in_turn = true;
	r->gate = threads == 1;
	give(pool, &cx, r, 0);
	while (!r->runs[0])
		doze();
	for (i = 0; to + 100 < JOBS && !ret; i++) {
		/* One lot is always on its way, after the one waited for. */
		ret = give_counted(pool, &cx, r, jobs[i % 2], to, i % 100 + 1,
				   &left[i % 2]);
		pool_wait(pool, NULL, &left[1 - i % 2]);
		late += not_once(r, to) != 0 || left[1 - i % 2];
		to += i % 100 + 1;
	}
	is_int(ret, 0, "jobs are given and counted");
	is_int(late, 0, "and done once they were waited for");
	is_int(r->turn, threads == 1, "while another may still run");
	r->gate = true;
	is_int(pool_wait(pool, &cx, NULL), 0, "all are waited for");
	is_int(r->turn, 1, "the other, too");
	is_int(left[0] + left[1], 0, "none is left then");
	r->fail_from = to;
	give_counted(pool, &cx, r, jobs[0], to, 1, &left[0]);
	pool_wait(pool, NULL, &left[0]);
	is_int(give_counted(pool, &cx, r, jobs[1], to + 1, 9, &left[1]), -EIO,
	       "the next gift returns the failure");
	pool_wait(pool, NULL, &left[1]);
	is_int(r->skips[to + 1] + r->skips[to + 9], 2,
	       "further jobs are skipped");
	is_int(not_once(r, to + 10), 0, "each job ran or was skipped once");
	is_int(r->wrong_worker + r->wrong_thread, 0, "on numbered workers");
	pool_close(pool);
}

static void test_failures(struct record *r, unsigned int threads)
{
	struct context cx;
	struct pool *pool;
	uint32_t i, j, wrong = 0, seen = 0, ran_on = 0;
	char text[32];

	for (i = 0; i < 100; i++) {
		pool = begin(&cx, r, threads, 4);
		r->fail_from = i;
		for (j = 0; j < 200; j++)
			seen += give(pool, &cx, r, j) != 0;
		wrong += pool_wait(pool, &cx, NULL) != -EIO;
		snprintf(text, sizeof(text), "job %u", i);
		wrong += strcmp(cx.failure, text) != 0;
		fail_clear(&cx);
		wrong += pool_wait(pool, &cx, NULL) != -EIO ||
			 strcmp(cx.failure, text) != 0;
		wrong += not_once(r, 200) != 0;
		for (j = 0; j < i; j++)
			wrong += r->runs[j] != 1;
		for (j = i + 20 * threads; j < 200; j++)
			ran_on += r->runs[j];
		pool_close(pool);
	}
	is_int(wrong, 0, "the failure is that of the lowest failed job");
	ok(seen > 0, "the giver gets it while it gives");
	is_int(ran_on, 0, "and jobs after it are skipped");
}

static int do_in_turn(struct context *cx, void *arg, unsigned int worker,
		      bool skip)
{
	const struct job *job = arg;
	struct record *r = job->r;

	if (skip)
		return 0;
	if (job->number % 3 == 0)
		doze();
	if (job->number == r->fail_from)
		return fail(cx, -EIO, "in turn");
	if (!pool_wait_earlier(r->pool, worker)) {
		r->skips[job->number]++;
		return 0;
	}
	r->late += r->turn != job->number;
	r->turn++;
	return 0;
}

/* What jobs do in their turn, they do one after another. */
static void test_turn(struct record *r, unsigned int threads)
{
	struct context cx;
	struct pool *pool = begin(&cx, r, threads, 4);
	static struct job jobs[JOBS];
	uint32_t i;

	r->pool = pool;
	for (i = 0; i < JOBS; i++) {
		jobs[i] = (struct job){ r, i };
		pool_give(pool, &cx, do_in_turn, &jobs[i], NULL);
	}
	is_int(pool_wait(pool, &cx, NULL), 0, "jobs that wait for their turn");
	is_int(r->turn, JOBS, "have it");
	is_int(r->late, 0, "in their order");
	pool_close(pool);
	pool = begin(&cx, r, threads, 4);
	r->pool = pool;
	r->fail_from = 100;
	for (i = 0; i < 200; i++)
		pool_give(pool, &cx, do_in_turn, &jobs[i], NULL);
	is_int(pool_wait(pool, &cx, NULL), -EIO, "one fails before its turn");
	is_int(r->turn, 100, "and none after it has one");
	pool_close(pool);
}

static void test_stop(struct record *r, unsigned int threads)
{
	struct context cx;
	struct pool *pool = begin(&cx, r, threads, 4);
	uint32_t i, runs = 0;
	int ret = 0;

	r->stop_at = 100;
	for (i = 0; i < JOBS && !ret; i++)
		ret = give(pool, &cx, r, i);
	is_int(ret, -EINTR, "the wish to stop reaches the giver");
	is_str(cx.failure, "interrupted", "as a failure");
	is_int(pool_wait(pool, &cx, NULL), -EINTR, "and who waits");
	is_int(not_once(r, i), 0, "every job was run or skipped,");
	for (i = 0; i < JOBS; i++)
		runs += r->runs[i];
	ok(runs > 100 && runs < 200, "and hardly any was run");
	pool_close(pool);
}

static void test_close(struct record *r)
{
	struct context cx;
	struct pool *pool = begin(&cx, r, 2, 50);
	uint32_t i, skips = 0;

	r->gate = false;
	r->opener = 49;
	for (i = 0; i < 50; i++)
		give(pool, &cx, r, i);
	while (!r->runs[0])
		doze();
	pool_close(pool);
	is_int(not_once(r, 50), 0, "closing leaves no job behind");
	for (i = 1; i < 50; i++)
		skips += r->skips[i];
	is_int(skips, 49, "what waited was skipped");
	pool_close(NULL);
}

int main(void)
{
	static struct record r;

	test_all(&r, 1, 1);
	test_all(&r, 2, 1);
	test_all(&r, 2, 7);
	test_all(&r, 16, 32);
	test_depth(&r);
	test_wait_for(&r, 1);
	test_wait_for(&r, 2);
	test_wait_for(&r, 16);
	test_failures(&r, 1);
	test_failures(&r, 2);
	test_failures(&r, 16);
	test_turn(&r, 1);
	test_turn(&r, 2);
	test_turn(&r, 16);
	test_stop(&r, 1);
	test_stop(&r, 2);
	test_close(&r);
	return tap_done();
}
