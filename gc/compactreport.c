// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What came of compaction: how far the volume reaches, and what it cost.
 */
#include "gc/compactreport.h"

#include "gc/totalsreport.h"

void compactreport_put(struct tool *tool, const char *name,
		       const struct usedend *before,
		       const struct usedend *after, uint64_t left,
		       const struct batch_totals *totals, uint64_t began)
{
	struct report *r = &tool->report;

	report_begin(r, name, NULL);
	report_u64(r, "end_before", "Segments up to the last one before",
		   before->end);
	report_u64(r, "end_after", "Segments up to the last one now",
		   after->end);
	report_u64(r, "clean_before", "Clean segments before",
		   before->clean);
	report_u64(r, "clean_after", "Clean segments now", after->clean);
	report_u64(r, "segments_left", "Segments left alone", left);
	totalsreport_put(r, totals, began);
	report_end(r);
}
