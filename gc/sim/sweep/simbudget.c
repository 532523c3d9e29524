// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of runs side by side.
 *
 * Any runs of a plan may be done at the same time, so those that take most count.
 */
#include "gc/sim/sweep/simbudget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/size.h"
#include "gc/sim/run/simmemory.h"
#include "gc/sim/sweep/simrow.h"

struct largest {
	struct simmemory of;	/* the largest run */
	uint64_t *bytes;	/* of the N largest ones, ascending */
	unsigned int n;
};

static void take_bytes(struct largest *l, uint64_t bytes)
{
	unsigned int i;

	for (i = 0; i < l->n && l->bytes[i] < bytes; i++)
		;
	if (!i)
		return;
	memmove(l->bytes, l->bytes + 1, (i - 1) * sizeof(*l->bytes));
	l->bytes[i - 1] = bytes;
}

/* Seeds take the same.  A run that cannot be planned takes nothing. */
static void take_run(struct largest *l, struct context *cx,
		     const struct simplan *plan, struct siminput input,
		     size_t i)
{
	struct simplan_run run;
	struct simmemory m;
	struct simsetup s;
	size_t seed;

	if (simplan_run(plan, cx, i, &run)) {
		fail_clear(cx);
		return;
	}
	input.volume = run.volume;
	if (simsetup_plan(&s, cx, &run.options, &input)) {
		fail_clear(cx);
		return;
	}
	m = simmemory_of(&s, run.policy);
	if (m.bytes > l->of.bytes)
		l->of = m;
	for (seed = 0; seed < plan->nseeds && seed < l->n; seed++)
		take_bytes(l, m.bytes);
}

static int refuse(struct context *cx, const struct largest *l,
		  const struct simmemory *all)
{
	char text[SIZE_TEXT_MAX], budget[SIZE_TEXT_MAX];

	return fail_said(cx, -ENOMEM, "memory: %u run%s at a time take%s %s, "
			 "most of it for %s, and --max-memory is %s: lower it "
			 "by %s%s", l->n, l->n > 1 ? "s" : "",
			 l->n > 1 ? "" : "s", size_format(all->bytes, text),
			 all->part, size_format(cx->max_memory, budget),
			 l->n > 1 ? "--threads, " : "", all->remedy);
}

int simbudget_check(struct context *cx, const struct simplan *plan,
		    const struct siminput *input)
{
	struct largest l = {
		.n = plan->options->victims ? 1 :
					      pool_workers(cx, plan->nruns),
	};
	struct simmemory all = simmemory_of_input(input);
	size_t i;
	int err = 0;

	simmemory_add(&all, "results", "--sweep (fewer values) or --seeds",
		      plan->nruns, sizeof(struct simrow));
	l.bytes = calloc(l.n, sizeof(*l.bytes));
	if (!l.bytes)
		return fail(cx, -ENOMEM, "plan");
	for (i = 0; i < plan->nruns; i += plan->nseeds)
		take_run(&l, cx, plan, *input, i);
	for (i = 0; i < l.n; i++)
		simmemory_add(&all, l.of.part, l.of.remedy, l.bytes[i], 1);
	free(l.bytes);
	if (all.bytes > cx->max_memory)
		err = refuse(cx, &l, &all);
	return err;
}
