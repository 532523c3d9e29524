// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of growing, as the command line asks for it.
 */
#include "gc/growjob.h"

#include "gc/grow.h"
#include "gc/totalsreport.h"

static void report(struct tool *tool, const struct grow *grow,
		   uint64_t began)
{
	struct report *r = &tool->report;

	report_begin(r, "grow", NULL);
	report_u64(r, "bytes_before", "Bytes before", grow->bytes_before);
	report_u64(r, "bytes", "Bytes now", grow->bytes);
	report_u64(r, "segments_before", "Segments before",
		   grow->segments_before);
	report_u64(r, "segments", "Segments now", grow->segments);
	totalsreport_put(r, &grow->totals, began);
	report_end(r);
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	const struct grow_options options = {
		.bytes = o->grow.bytes,
		.time = (uint64_t)tool->cx.now,
	};
	uint64_t began = tool_clock();
	struct grow grow;
	int ret = grow_run(&grow, &tool->cx, dev, &options);

	if (!ret)
		report(tool, &grow, began);
	return ret;
}

static bool is_wanted(const struct options *o)
{
	return o->grow.wanted;
}

const struct job growjob = {
	.is_wanted = is_wanted,
	.run = run,
};
