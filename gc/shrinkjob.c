// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of shrinking, as the command line asks for it.
 */
#include "gc/shrinkjob.h"

#include "gc/cleanjob.h"
#include "gc/shrink.h"
#include "gc/totalsreport.h"
#include "gc/watch.h"

static void report(struct tool *tool, const struct shrink *s, uint64_t began)
{
	struct report *r = &tool->report;

	report_begin(r, "shrink", NULL);
	report_u64(r, "bytes_before", "Bytes before", s->bytes_before);
	report_u64(r, "bytes", "Bytes now", s->bytes);
	report_u64(r, "segments_before", "Segments before",
		   s->segments_before);
	report_u64(r, "segments", "Segments now", s->segments);
	report_u64(r, "segments_cleaned", "Segments cleaned",
		   s->totals.victims);
	totalsreport_put(r, &s->totals, began);
	report_end(r);
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct shrink_options options = {
		.bytes = o->shrink.bytes,
		.clean = cleanjob_options(tool, o),
	};
	uint64_t began = tool_clock();
	struct watch watch;
	struct shrink s;
	int ret;

	options.clean.how.batch.sums = o->sums;
	watch_begin(&watch, tool, &options.clean.how);
	ret = shrink_run(&s, &tool->cx, dev, &options);
	watch_end(&watch);
	if (ret)
		return ret;
	report(tool, &s, began);
	return s.left ? JOB_LEFT : 0;
}

static bool is_wanted(const struct options *o)
{
	return o->shrink.wanted;
}

const struct job shrinkjob = {
	.is_wanted = is_wanted,
	.run = run,
};
