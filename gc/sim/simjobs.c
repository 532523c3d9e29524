// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs, side by side.
 *
 * They share only what they begin with and do not change it.  Each has its volume
 * only as long as it runs.
 */
#include "gc/sim/simjobs.h"

#include <errno.h>
#include <pthread.h>

#include "base/pool.h"
#include "base/wide.h"
#include "gc/sim/report/simreport.h"

/* Progress is counted in so many parts of each run. */
#define PARTS 1000u

struct shared {
	struct simjobs *jobs;
	pthread_mutex_t lock;	/* of the next ones */
	uint64_t parts;		/* of all runs, that are done */
};

/* Of one run. */
struct portion {
	struct shared *shared;
	uint64_t total, parts;
};

static void add_progress(struct portion *p, uint64_t parts)
{
	struct shared *shared = p->shared;

	if (parts <= p->parts)
		return;
	pthread_mutex_lock(&shared->lock);
	shared->parts += parts - p->parts;
	progress_update(&shared->jobs->tool->progress, shared->parts);
	pthread_mutex_unlock(&shared->lock);
	p->parts = parts;
}

static void show_asked(void *arg, uint64_t done)
{
	struct portion *p = arg;

	if (p->total)
		add_progress(p, wide_mul_div(done < p->total ? done : p->total,
					     PARTS, 0, p->total));
}

/* What is taken of run I, which has ended. */
static int take_result(struct simjobs *j, struct context *cx,
		       const struct simsetup *s, size_t i, const char *policy)
{
	const struct simoptions *o = j->plan->options;
	bool is_last = i == j->plan->nruns - 1;

	simrow_take(&j->rows[i], s);
	if (is_last && o->curve)
		simreport_curve(&j->tool->report, &s->run, policy);
	if (is_last && o->wear)
		simreport_wear(&j->tool->report, &s->run);
	return j->drawn ? simsvg_take(&j->drawn[i], cx, &s->run, policy) : 0;
}

static int simulate(struct shared *shared, struct context *cx, size_t i)
{
	struct simjobs *j = shared->jobs;
	struct siminput input = *j->input;
	struct portion portion = { .shared = shared };
	struct simplan_run run;
	struct simsetup s;
	int ret = simplan_run(j->plan, cx, i, &run);

	if (ret)
		return ret;
	input.volume = run.volume;
	ret = simsetup_open(&s, cx, &run.options, &input, run.policy);
	portion.total = ret ? 0 : simsetup_total(&s);
	if (!ret)
		ret = simsetup_run(&s, cx, show_asked, &portion);
	if (!ret)
		ret = take_result(j, cx, &s, i, run.policy->name);
	simsetup_close(&s);
	add_progress(&portion, PARTS);
	return ret;
}

/* One failure is no reason not to do the others. */
static int do_run(struct context *cx, void *arg, unsigned int worker,
		  uint64_t i)
{
	struct shared *shared = arg;
	int ret = simulate(shared, cx, (size_t)i);

	(void)worker;
	if (!ret || ret == -EINTR)
		return ret;
	return simrow_fail(&shared->jobs->rows[i], cx, ret);
}

int simjobs_run(struct simjobs *j)
{
	struct tool *tool = j->tool;
	struct shared shared = { .jobs = j };
	int ret;

	pthread_mutex_init(&shared.lock, NULL);
	progress_begin(&tool->progress,
		       j->plan->nruns > 1 ? "runs" : j->plan->names.items[0],
		       (uint64_t)PARTS * j->plan->nruns, false);
	ret = pool_run(&tool->cx, j->plan->nruns, do_run, &shared);
	progress_end(&tool->progress);
	pthread_mutex_destroy(&shared.lock);
	return ret;
}
