// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What came of cleaning.
 *
 * What is written is of three kinds: data, the blocks of files that were moved;
 * metadata, moved or made anew; and the summaries that list both.
 * Amplification is what is written for each block moved, and for each byte won.
 */
#include "gc/cleanreport.h"

uint64_t cleanreport_freed(const struct clean *c,
			   const struct nilfs_geometry *g)
{
	if (c->totals.clean < c->clean_before)
		return 0;
	return (c->totals.clean - c->clean_before) *
	       ((uint64_t)g->blocks_per_segment << g->block_bits);
}

struct value cleanreport_per_moved(const struct clean *c)
{
	return value_percent(c->totals.written, c->totals.moved);
}

struct value cleanreport_per_freed(const struct clean *c,
				   const struct nilfs_geometry *g)
{
	return value_percent(c->totals.written << g->block_bits,
			     cleanreport_freed(c, g));
}

static void put_written(struct report *r, const struct clean *c,
			const struct nilfs_geometry *g)
{
	const struct batch_totals *t = &c->totals;

	report_u64(r, "blocks_written", "Blocks written", t->written);
	report_u64(r, "written_data", "  of data", t->moved_data);
	report_u64(r, "written_metadata", "  of metadata",
		   t->written - t->moved_data - t->summaries);
	report_u64(r, "written_summaries", "  of summaries", t->summaries);
	report_value(r, VALUE_PERCENT, "written_per_moved",
		     "Written per block moved", cleanreport_per_moved(c));
	report_value(r, VALUE_PERCENT, "written_per_freed",
		     "Written per byte freed", cleanreport_per_freed(c, g));
}

void cleanreport_put(struct report *r, const struct clean *c,
		     const struct nilfs_geometry *g)
{
	const struct batch_totals *t = &c->totals;

	report_u64(r, "clean_before", "Clean segments before",
		   c->clean_before);
	report_u64(r, "clean_after", "Clean segments now", t->clean);
	report_value(r, VALUE_SIZE, "bytes_freed", "Freed",
		     value_u64(cleanreport_freed(c, g)));
	report_u64(r, "segments_cleaned", "Segments cleaned", t->victims);
	report_u64(r, "segments_left", "Segments left alone", c->left);
	report_u64(r, "blocks_moved", "Blocks moved", t->moved);
	put_written(r, c, g);
	report_u64(r, "blocks_forgotten", "Dead blocks", t->forgotten);
	report_u64(r, "checkpoints_deleted", "Checkpoints deleted",
		   t->checkpoints);
	report_u64(r, "batches", "Batches", t->batches);
}
