// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of purging and deallocating free space.
 *
 * They are the last jobs, since they take the space that others have freed.
 */
#include <inttypes.h>

#include "gc/clean/punch.h"
#include "gc/clean/purge.h"
#include "gc/job.h"
#include "gc/moving.h"

/* The argument of callbacks during the run; moving is the first member. */
struct freejob_output {
	struct moving moving;
	uint64_t size;		/* of the device */
	bool zeros;		/* the progress of these has begun */
};

static void show_zeros(void *arg, uint64_t bytes)
{
	struct freejob_output *out = arg;
	struct progress *p = &out->moving.tool->progress;

	if (!out->zeros)
		progress_begin(p, "zeros", out->size, true);
	out->zeros = true;
	progress_update(p, bytes);
}

static void report_purge(struct tool *tool, const struct purge *p,
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
	moving_put(r, &p->totals, began);
	report_end(r);
}

int freejob_purge(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct collector_options how = moving_options(tool, o);
	struct freejob_output out = { .size = dev->size };
	struct purge p = {
		.zeroing.done = show_zeros,
		.zeroing.arg = &out,
	};
	uint64_t began = tool_clock();
	int ret;

	how.batch.forecast = o->dry_run;
	how.batch.front = o->compact >= 0;
	moving_begin(&out.moving, tool, &how);
	ret = purge_run(&p, &tool->cx, dev, &how);
	moving_end(&out.moving);
	if (ret)
		return ret;
	if (p.zeroing.skipped)
		tool_warn(tool, "%s: %" PRIu64 " segments are marked as "
			  "erroneous and were not purged", tool->argv[0],
			  p.zeroing.skipped);
	if (p.left)
		tool_warn(tool, "%s: %" PRIu64 " segments with unused blocks "
			  "could not be cleaned and were not purged",
			  tool->argv[0], p.left);
	report_purge(tool, &p, began);
	return p.left || p.zeroing.skipped ? JOB_LEFT : 0;
}

int freejob_punch(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct report *r = &tool->report;
	struct punch_totals totals;
	int ret = punch_run(&totals, &tool->cx, dev);

	(void)o;
	if (ret)
		return ret;
	report_begin(r, "punch", NULL);
	report_u64(r, "segments", "Clean segments", totals.segments);
	report_u64(r, "bytes", "Bytes deallocated", totals.bytes);
	report_end(r);
	return 0;
}
