// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of compaction, as the command line asks for it.
 */
#include "gc/compactjob.h"

#include "gc/compact.h"
#include "gc/compactreport.h"
#include "gc/watch.h"

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	uint64_t began = tool_clock();
	/* Blocks as they come are in no order that they could lack. */
	struct compact_options options = {
		.all = o->compact == OPTIONS_COMPACT_ALL ||
		       (o->order >= 0 && o->order != ORDER_VICTIM),
		.order = o->order < 0 ? ORDER_DEFAULT :
				      (enum order_kind)o->order,
		.how = {
			.protect = o->protect,
			.batch.time = (uint64_t)tool->cx.now,
			.batch.sums = o->sums,
			.batch.forecast = options_leave_data(o),
		},
	};
	struct compact c;
	struct watch watch;
	int ret;

	watch_begin(&watch, tool, &options.how);
	ret = compact_run(&c, &tool->cx, dev, &options);
	watch_end(&watch);
	if (ret)
		return ret;
	compactreport_put(tool, "compaction", &c.before, &c.after, c.left,
			  &c.totals, began);
	return c.left ? JOB_LEFT : 0;
}

static bool is_wanted(const struct options *o)
{
	return !o->output && (o->compact >= 0 || o->order >= 0);
}

const struct job compactjob = {
	.is_wanted = is_wanted,
	.run = run,
};
