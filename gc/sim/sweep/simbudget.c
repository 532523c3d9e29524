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

static uint64_t add_sizes(uint64_t a, uint64_t b)
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
	m->bytes = add_sizes(m->bytes, bytes);
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

/* The memory of a run that S has planned. */
static struct memory memory_of_run(const struct simsetup *s,
				   const struct simchoice_policy *policy)
{
	const struct simclean_config cleaner = simsetup_cleaner(s, policy);
	const struct simvol *v = &s->vol;
	const struct simvol_config *c = &v->config;
	const struct simplace_kind *k = c->placement;
	const struct simrun_config *user = &s->options->run;
	const struct simwork_config *w = &s->work;
	const char *another = "--placement (another)";
	uint64_t places = (uint64_t)c->nsegments * c->blocks;
	uint64_t logical = c->data, of_segment, bytes = 0;
	uint64_t taken = UINT64_MAX, kept = user->snapshots + UINT64_C(1);
	struct memory m = { .part = "maps", .remedy = "" };

	/* Data, nodes, and the metadata of both. */
	if (c->node_fanout)
		logical += div_round_up(logical, c->node_fanout);
	if (c->dat_fanout)
		logical += c->dat_allocates ?
				   simlayers_entry_blocks(c) :
				   div_round_up(logical, c->dat_fanout);
	if (c->dat_fanout && c->dat_allocates)
		add_memory(&m, "entries of the DAT", "--dat-entries (none)",
			   places, sizeof(*v->entries.of));
	add_memory(&m, "maps of blocks", remedy_of_size(s),
		   places * PLACE / LARGE_PAGE + logical * PLACE / LARGE_PAGE +
			   2,
		   LARGE_PAGE);
	if (c->history)
		add_memory(&m, "the history of blocks",
			   "--snapshot-every and --protect (none)", places,
			   HISTORY);
	if (c->holes)
		add_memory(&m, "holes", "--fill-holes (none)", places,
			   sizeof(*v->holes.stamp));
	of_segment = sizeof(*v->segments) + sizeof(*v->needed) +
		     sizeof(*v->state) + sizeof(*v->wear) + sizeof(*v->clean) +
		     sizeof(*v->origin);
	add_memory(&m, "tables of segments",
		   s->input->image ? "another image" : "--segments",
		   c->nsegments * of_segment +
			   simclean_bytes(&cleaner, c->nsegments),
		   1);
	/* The placement. */
	if (k->levels)
		bytes += sizeof(*v->place.levels);
	if (k->times)
		bytes += sizeof(*v->place.written);
	if (k->ahead)
		bytes += sizeof(*v->place.next) +
			 sizeof(*s->ahead.latest) + sizeof(*s->ahead.first);
	if (k->words)
		bytes += sizeof(uint32_t);
	else if (k->open)
		bytes += 1;	/* the heat of MiDAS; others take less */
	add_memory(&m, "the placement", another, c->data, bytes);
	if (k->open && !k->words)
		add_memory(&m, "the placement", another,
			   4ull * c->nsegments + 1, LIFE);
	if (k->ahead)
		add_memory(&m, "all writes, recorded for the placement",
			   s->input->trace ? another : "--writes",
			   add_sizes(s->before, s->asked), sizeof(*s->ahead.next));
	if (policy->kind && policy->kind->data_ages) {
		add_memory(&m, "ages of data", "--policy (another)", c->data,
			   sizeof(*v->ages.of));
		add_memory(&m, "ages of data", "--policy (another)",
			   c->nsegments, sizeof(*v->ages.sum) +
			   sizeof(*v->ages.youngest) + sizeof(*v->ages.n));
	}
	/* The user.  Snapshots that exist at the same time have a number each. */
	if (user->snapshot_every)
		taken = add_sizes(s->before, s->asked) / user->snapshot_every;
	if (c->history)
		add_memory(&m, "snapshots", "--snapshots",
			   kept < taken ? kept : taken, sizeof(*v->snapshots));
	if (user->dirty_pages)
		add_memory(&m, "dirty pages", "--dirty-pages (none)",
			   c->data / 8, 1);
	if (!s->input->trace && w->kind->lives) {
		add_memory(&m, "blocks of files", remedy_of_size(s), w->data,
			   sizeof(uint32_t));
		add_memory(&m, "files", "--file-size (larger)",
			   (uint64_t)((double)w->data /
				      fmax(simdist_mean(&w->size), 1)),
			   FILE_LIFE);
	}
	if (!s->input->trace && w->kind->mixed)
		add_memory(&m, "files", "--file-blocks (more)",
			   w->data / w->file_blocks, sizeof(uint32_t));
	return m;
}

int simbudget_check(struct context *cx, const struct simplan *plan,
		    const struct siminput *input)
{
	unsigned int count = plan->options->victims ?
			     1 : pool_workers(cx, plan->nruns), n;
	const struct simimage *image = input->image;
	char text[SIZE_TEXT_MAX], budget[SIZE_TEXT_MAX];
	struct memory all = { 0 }, largest = { 0 }, m;
	struct siminput of_run = *input;
	struct simplan_run run;
	struct simsetup s;
	uint64_t *bytes;	/* of the COUNT largest runs, ascending */
	size_t i, seed;

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
	bytes = calloc(count, sizeof(*bytes));
	if (!bytes)
		return fail(cx, -ENOMEM, "plan");
	for (i = 0; i < plan->nruns; i += plan->nseeds) {
		/* A run that cannot be planned needs no memory. */
		if (simplan_run(plan, cx, i, &run)) {
			fail_clear(cx);
			continue;
		}
		of_run.volume = run.volume;
		if (simsetup_plan(&s, cx, &run.options, &of_run)) {
			fail_clear(cx);
			continue;
		}
		m = memory_of_run(&s, run.policy);
		if (m.bytes > largest.bytes)
			largest = m;
		/* Seeds need the same memory. */
		for (seed = 0; seed < plan->nseeds && seed < count; seed++) {
			for (n = 0; n < count && bytes[n] < m.bytes; n++)
				;
			if (!n)
				break;
			memmove(bytes, bytes + 1, (n - 1) * sizeof(*bytes));
			bytes[n - 1] = m.bytes;
		}
	}
	for (n = 0; n < count; n++)
		add_memory(&all, largest.part, largest.remedy, bytes[n], 1);
	free(bytes);
	if (all.bytes <= cx->max_memory)
		return 0;
	return fail_said(cx, -ENOMEM, "memory: %u run%s at a time take%s %s, "
			 "most of it for %s, and --max-memory is %s: lower it "
			 "by %s%s", count, count > 1 ? "s" : "",
			 count > 1 ? "" : "s", size_format(all.bytes, text),
			 all.part, size_format(cx->max_memory, budget),
			 count > 1 ? "--threads, " : "", all.remedy);
}
