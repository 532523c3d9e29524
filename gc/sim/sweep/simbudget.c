// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of concurrent runs, before they begin.
 *
 * All allocations whose size depends on the number of blocks, segments or
 * writes are counted, as in use at the end; a few kilobytes of each run are
 * not.  Any runs of a plan may be concurrent, so the largest ones count.
 */
#include "gc/sim/sweep/simbudget.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/pool.h"
#include "base/size.h"
#include "gc/sim/sweep/simrow.h"

/* Maps are rounded up to large pages: see simvol.c. */
#define LARGE_PAGE (2u << 20)
/* Sizes per block or segment that no structure defines. */
#define PLACE sizeof(uint32_t)
#define HISTORY (2 * sizeof(uint32_t))	/* birth, death */
#define FILE_LIFE 16u		/* of a file of a workload: end, first block */
#define LIFE (3 * sizeof(double))	/* of MiDAS: a count, two sums */

struct memory {
	uint64_t bytes;		/* total; UINT64_MAX: that or more */
	uint64_t most;		/* the largest part */
	const char *part;	/* its name */
	const char *remedy;	/* options that make it smaller */
};

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t all = UINT64_MAX;

	return checked_add(a, b, &all) ? all : UINT64_MAX;
}

/* Adds COUNT objects of SIZE bytes that belong to PART. */
static void add_memory(struct memory *m, const char *part, const char *remedy,
		       uint64_t count, uint64_t size)
{
	uint64_t bytes;

	if (!checked_mul(count, size, &bytes))
		bytes = UINT64_MAX;
	m->bytes = sum(m->bytes, bytes);
	if (bytes <= m->most)
		return;
	m->most = bytes;
	m->part = part;
	m->remedy = remedy;
}

static const char *remedy_of_size(const struct simsetup *s)
{
	if (s->input->image)
		return "another image";
	if (s->input->trace)
		return "--block-size (larger) or --fill (more)";
	return "--segments or --segment-size";
}

/* Maps of blocks, and tables of segments. */
static void add_volume(struct memory *m, const struct simsetup *s,
		       const struct simchoice_policy *policy)
{
	const struct simclean_config cleaner = simsetup_cleaner(s, policy);
	const struct simvol *v = &s->vol;
	const struct simvol_config *c = &v->config;
	uint64_t places = (uint64_t)c->nsegments * c->blocks;
	uint64_t logical = c->data, of_segment;

	/* Data, nodes, and the metadata of both. */
	if (c->node_fanout)
		logical += div_round_up(logical, c->node_fanout);
	if (c->dat_fanout)
		logical += div_round_up(logical, c->dat_fanout);
	add_memory(m, "maps of blocks", remedy_of_size(s),
		   places * PLACE / LARGE_PAGE + logical * PLACE / LARGE_PAGE +
			   2,
		   LARGE_PAGE);
	if (c->history)
		add_memory(m, "the history of blocks",
			   "--snapshot-every and --protect (none)", places,
			   HISTORY);
	if (c->holes)
		add_memory(m, "holes", "--fill-holes (none)", places,
			   sizeof(*v->holes.stamp));
	of_segment = sizeof(*v->segments) + sizeof(*v->needed) +
		     sizeof(*v->state) + sizeof(*v->wear) + sizeof(*v->clean) +
		     sizeof(*v->past);
	add_memory(m, "tables of segments",
		   s->input->image ? "another image" : "--segments",
		   c->nsegments * of_segment +
			   simclean_bytes(&cleaner, c->nsegments),
		   1);
}

/* Memory of the placement and the policy. */
static void add_choices(struct memory *m, const struct simsetup *s,
			const struct simchoice_policy *policy)
{
	const struct simvol_config *c = &s->vol.config;
	const struct simplace_kind *k = c->placement;
	const char *part = "the placement", *remedy = "--placement (another)";
	uint64_t bytes = 0;

	if (k->levels)
		bytes += sizeof(*s->vol.place.levels);
	if (k->times)
		bytes += sizeof(*s->vol.place.written);
	if (k->ahead)
		bytes += sizeof(*s->vol.place.next) +
			 sizeof(*s->ahead.latest) + sizeof(*s->ahead.first);
	if (k->open)
		bytes += 1;	/* the heat of MiDAS */
	add_memory(m, part, remedy, c->data, bytes);
	if (k->open)
		add_memory(m, part, remedy, 4 * c->data / c->blocks + 1, LIFE);
	if (k->ahead)
		add_memory(m, "all writes, which the placement knows",
			   s->input->trace ? remedy : "--writes",
			   sum(s->before, s->asked), sizeof(*s->ahead.next));
	if (!policy->kind || !policy->kind->data_ages)
		return;
	part = "ages of data";
	remedy = "--policy (another)";
	add_memory(m, part, remedy, c->data, sizeof(*s->vol.ages.of));
	add_memory(m, part, remedy, c->nsegments,
		   sizeof(*s->vol.ages.sum) + sizeof(*s->vol.ages.youngest) +
			   sizeof(*s->vol.ages.n));
}

static void add_user(struct memory *m, const struct simsetup *s)
{
	const struct simrun_config *c = &s->options->run;
	const struct simwork_config *w = &s->work;
	uint64_t taken = UINT64_MAX, kept = c->snapshots + UINT64_C(1);

	/* Snapshots that exist at the same time: each has a number. */
	if (c->snapshot_every)
		taken = sum(s->before, s->asked) / c->snapshot_every;
	if (s->vol.config.history)
		add_memory(m, "snapshots", "--snapshots",
			   kept < taken ? kept : taken,
			   sizeof(*s->vol.snapshots));
	if (c->dirty_pages)
		add_memory(m, "dirty pages", "--dirty-pages (none)",
			   s->vol.config.data / 8, 1);
	if (s->input->trace)
		return;
	if (w->kind->lives) {
		add_memory(m, "blocks of files", remedy_of_size(s), w->data,
			   sizeof(uint32_t));
		add_memory(m, "files", "--file-size (larger)",
			   (uint64_t)((double)w->data /
				      fmax(simdist_mean(&w->size), 1)),
			   FILE_LIFE);
	}
	if (w->kind->mixed)
		add_memory(m, "files", "--file-blocks (more)",
			   w->data / w->file_blocks, sizeof(uint32_t));
}

struct largest {
	struct memory of;	/* the largest run */
	uint64_t *bytes;	/* of the N largest runs, ascending */
	unsigned int n;
};

/* Seeds need the same memory.  A run that cannot be planned needs none. */
static void add_largest_run(struct largest *l, struct context *cx,
			    const struct simplan *plan, struct siminput input,
			    size_t i)
{
	struct memory m = { .part = "maps", .remedy = "" };
	struct simplan_run run;
	struct simsetup s;
	unsigned int n;
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
	add_volume(&m, &s, run.policy);
	add_choices(&m, &s, run.policy);
	add_user(&m, &s);
	if (m.bytes > l->of.bytes)
		l->of = m;
	for (seed = 0; seed < plan->nseeds && seed < l->n; seed++) {
		for (n = 0; n < l->n && l->bytes[n] < m.bytes; n++)
			;
		if (!n)
			return;
		memmove(l->bytes, l->bytes + 1, (n - 1) * sizeof(*l->bytes));
		l->bytes[n - 1] = m.bytes;
	}
}

int simbudget_check(struct context *cx, const struct simplan *plan,
		    const struct siminput *input)
{
	struct largest l = {
		.n = plan->options->victims ? 1 :
					      pool_workers(cx, plan->nruns),
	};
	const struct simimage *image = input->image;
	char text[SIZE_TEXT_MAX], budget[SIZE_TEXT_MAX];
	struct memory all = { 0 };
	size_t i;

	/* Memory that runs share. */
	if (image) {
		add_memory(&all, "segments of the image", "another image",
			   image->nsegments,
			   sizeof(*image->segments) + sizeof(*image->state));
		add_memory(&all, "blocks of hot files", "--hot-file",
			   image->nhot, sizeof(*image->hot));
	}
	if (input->trace)
		add_memory(&all, "the trace", "--block-size (larger)",
			   simtrace_bytes(input->trace), 1);
	add_memory(&all, "results", "--sweep (fewer values) or --seeds",
		   plan->nruns, sizeof(struct simrow));
	l.bytes = calloc(l.n, sizeof(*l.bytes));
	if (!l.bytes)
		return fail(cx, -ENOMEM, "plan");
	for (i = 0; i < plan->nruns; i += plan->nseeds)
		add_largest_run(&l, cx, plan, *input, i);
	for (i = 0; i < l.n; i++)
		add_memory(&all, l.of.part, l.of.remedy, l.bytes[i], 1);
	free(l.bytes);
	if (all.bytes <= cx->max_memory)
		return 0;
	return fail_said(cx, -ENOMEM, "memory: %u run%s at a time take%s %s, "
			 "most of it for %s, and --max-memory is %s: lower it "
			 "by %s%s", l.n, l.n > 1 ? "s" : "",
			 l.n > 1 ? "" : "s", size_format(all.bytes, text),
			 all.part, size_format(cx->max_memory, budget),
			 l.n > 1 ? "--threads, " : "", all.remedy);
}
