// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What batches cost.
 *
 * Every job that writes logs tells the same of them.  What is written is of
 * three kinds: data, the blocks of files that were moved; metadata, moved or
 * rebuilt; and the summaries that list both.  Amplification is what is
 * written for each block moved.
 */
#include "gc/totalsreport.h"

#include "cli/tool.h"

struct value totalsreport_per_moved(const struct batch_totals *totals)
{
	return value_percent(totals->written, totals->moved);
}

void totalsreport_put(struct report *r, const struct batch_totals *totals,
		      uint64_t began)
{
	const struct batch_totals *t = totals;

	report_u64(r, "blocks_moved", "Blocks moved", t->moved);
	report_u64(r, "blocks_written", "Blocks written", t->written);
	report_u64(r, "written_data", "  of data", t->moved_data);
	report_u64(r, "written_metadata", "  of metadata",
		   t->written - t->moved_data - t->summaries);
	report_u64(r, "written_summaries", "  of summaries", t->summaries);
	report_value(r, VALUE_PERCENT, "written_per_moved",
		     "Written per block moved", totalsreport_per_moved(t));
	report_u64(r, "blocks_forgotten", "Dead blocks", t->forgotten);
	report_u64(r, "checkpoints_deleted", "Checkpoints deleted",
		   t->checkpoints);
	report_u64(r, "batches", "Batches", t->batches);
	report_u64(r, "elapsed_ms", "Milliseconds", tool_clock() - began);
}
