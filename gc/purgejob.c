// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of purging, as the command line asks for it.
 *
 * It comes last: what the jobs before have freed is to be overwritten.
 */
#include "gc/purgejob.h"

#include <inttypes.h>

#include "gc/purge.h"
#include "gc/totalsreport.h"
#include "gc/watch.h"

struct reported {
	struct watch watch;
	uint64_t size;		/* of the device */
	bool zeros;		/* the progress of these has begun */
};

static void show_zeros(void *arg, uint64_t bytes)
{
	struct reported *told = arg;
	struct progress *p = &told->watch.tool->progress;

	if (!told->zeros)
		progress_begin(p, "zeros", told->size, true);
	told->zeros = true;
	progress_update(p, bytes);
}

static void report(struct tool *tool, const struct purge *p,
		   uint64_t began)
{
	struct report *r = &tool->report;

	report_begin(r, "purge", NULL);
	report_u64(r, "segments_cleaned", "Segments cleaned for it",
		   p->totals.victims);
	report_u64(r, "segments_left", "Segments not purged",
		   p->left + p->zeroing.skipped);
	report_value(r, VALUE_SIZE, "bytes_zero", "Zeros",
		     value_u64(p->zeroing.bytes));
	totalsreport_put(r, &p->totals, began);
	report_end(r);
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct collector_options how = {
		.protect = o->protect,
		.batch.time = (uint64_t)tool->cx.now,
		.batch.sums = o->sums,
		.batch.forecast = o->dry_run,
		.batch.front = o->compact >= 0,
	};
	uint64_t began = tool_clock();
	struct reported told = { .size = dev->size };
	struct purge p = {
		.zeroing.done = show_zeros,
		.zeroing.arg = &told,
	};
	int ret;

	watch_begin(&told.watch, tool, &how);
	ret = purge_run(&p, &tool->cx, dev, &how);
	watch_end(&told.watch);
	if (ret)
		return ret;
	if (p.zeroing.skipped)
		tool_warn(tool, "%" PRIu64 " segments are marked as erroneous "
			  "and were not purged", p.zeroing.skipped);
	if (p.left)
		tool_warn(tool, "%" PRIu64 " segments with unused blocks "
			  "needs could not be cleaned", p.left);
	report(tool, &p, began);
	return p.left || p.zeroing.skipped ? JOB_LEFT : 0;
}

static bool is_wanted(const struct options *o)
{
	return o->purge;
}

const struct job purgejob = {
	.is_wanted = is_wanted,
	.run = run,
};
