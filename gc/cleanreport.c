// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What came of cleaning: what was won, and what it cost.
 */
#include "gc/cleanreport.h"

#include "gc/totalsreport.h"

uint64_t cleanreport_freed(const struct clean *c,
			   const struct nilfs_geometry *g)
{
	if (c->totals.clean < c->clean_before)
		return 0;
	return (c->totals.clean - c->clean_before) *
	       ((uint64_t)g->blocks_per_segment << g->block_bits);
}

struct value cleanreport_per_freed(const struct clean *c,
				   const struct nilfs_geometry *g)
{
	return value_percent(c->totals.written << g->block_bits,
			     cleanreport_freed(c, g));
}

void cleanreport_put(struct report *r, const struct clean *c,
		     const struct nilfs_geometry *g, uint64_t began)
{
	report_u64(r, "clean_before", "Clean segments before",
		   c->clean_before);
	report_u64(r, "clean_after", "Clean segments now", c->totals.clean);
	report_value(r, VALUE_SIZE, "bytes_freed", "Freed",
		     value_u64(cleanreport_freed(c, g)));
	report_value(r, VALUE_PERCENT, "written_per_freed",
		     "Written per byte freed", cleanreport_per_freed(c, g));
	report_u64(r, "segments_cleaned", "Segments cleaned",
		   c->totals.victims);
	report_u64(r, "segments_left", "Segments left alone", c->left);
	totalsreport_put(r, &c->totals, began);
}
