// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker pool: every job once, failures, the wish to stop. */
#include "config.h"

#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "tap.h"

#define JOBS 5000

struct record {
	atomic_int runs[JOBS];
	atomic_int started, failures;
	atomic_bool other_thread, wrong_worker;
	pthread_t caller;
	unsigned int workers;
	uint64_t fail_from; /* every job from here on fails */
	bool lowest_last;   /* and the lowest reports after another */
	volatile sig_atomic_t stop;
	uint64_t stop_at;
};

static void doze(void)
{
	struct timespec while_others_work = {0, 100000};

	nanosleep(&while_others_work, NULL);
}

/* Makes two jobs fail, in the order wanted; gives up after a second. */
static void await_turn(struct record *r, uint64_t job)
{
	unsigned int i;

	if ((job == r->fail_from) != r->lowest_last) {
		for (i = 0; i < 10000 && r->started < (int)r->fail_from + 2;
		     i++)
			doze();
		return;
	}
	for (i = 0; i < 10000 && !r->failures; i++)
		doze();
	/* Counted is not yet reported. */
	doze();
}

static int count_job(struct context *cx, void *arg, unsigned int worker,
		     uint64_t job)
{
	struct record *r = arg;

	r->runs[job]++;
	r->started++;
	if (!pthread_equal(pthread_self(), r->caller))
		r->other_thread = true;
	if (worker >= r->workers)
		r->wrong_worker = true;
	if (job == r->stop_at)
		__atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
	if (job >= r->fail_from) {
		if (r->workers > 1)
			await_turn(r, job);
		r->failures++;
		return fail(cx, job == r->fail_from ? -EIO : -ENOSPC, "job %d",
			    (int)job);
	}
	return 0;
}

static int run(struct context *cx, struct record *r, unsigned int threads,
	       uint64_t jobs, uint64_t fail_from, uint64_t stop_at)
{
	memset(r, 0, sizeof(*r));
	r->lowest_last = fail_from % 2;
	context_init(cx);
	cx->threads = threads;
	cx->cancel = &r->stop;
	r->caller = pthread_self();
	r->fail_from = fail_from;
	r->stop_at = stop_at;
	r->workers = pool_workers(cx, jobs);
	return pool_run(cx, jobs, count_job, r);
}

static unsigned int not_once(const struct record *r, uint64_t from, uint64_t to,
			     int times)
{
	unsigned int wrong = 0;

	for (; from < to; from++)
		wrong += r->runs[from] != times;
	return wrong;
}

static void test_all(struct record *r, unsigned int threads)
{
	struct context cx;
	unsigned int i, wrong = 0;
	char text[32];

	is_int(run(&cx, r, threads, JOBS, JOBS, JOBS), 0, "a run");
	is_int(not_once(r, 0, JOBS, 1), 0, "runs every job once");
	ok(!r->wrong_worker, "on numbered workers");
	if (threads < 2)
		ok(!r->other_thread, "without a thread");

	for (i = 0; i < 200; i++) {
		wrong += run(&cx, r, threads, JOBS, i, JOBS) != -EIO;
		snprintf(text, sizeof(text), "job %u", i);
		wrong += strcmp(cx.failure, text) != 0;
		wrong += not_once(r, 0, i, 1) != 0;
		wrong += r->started == JOBS;
		wrong += threads > 1 && r->failures < 2;
	}
	is_int(wrong, 0,
	       "the lowest failed job is reported, its lower "
	       "neighbours were run, and the rest was given up");
}

int main(void)
{
	struct record r;
	struct context cx;

	test_all(&r, 0);
	test_all(&r, 1);
	test_all(&r, 2);
	test_all(&r, 7);
	is_int(run(&cx, &r, 4, 0, 0, 0), 0, "no job is no failure");
	is_int(r.started, 0, "and runs nothing");
	is_int(pool_workers(&cx, 3), 3, "no more workers than jobs");

	is_int(run(&cx, &r, 1, JOBS, JOBS, 100), -EINTR, "the wish to stop");
	is_str(cx.failure, "interrupted", "is the failure");
	is_int(r.started, 101, "and no further job starts");
	return tap_done();
}
