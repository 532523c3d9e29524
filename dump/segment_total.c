// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sums over segments.
 *
 * Utilization is the share of a segment's blocks that a cleaner would keep; the
 * rest of a full segment is what cleaning it would gain.
 */
#include "dump/segment_total.h"

#define BAR_LENGTH 40
#define USE_BUCKETS 10
#define USE_MAX 9999		/* hundredths of a percent; 100 % joins them */

void segment_total_init(struct segment_total *t)
{
	*t = (struct segment_total){ .segments = 0 };
	histogram_linear(&t->use, USE_MAX, USE_BUCKETS);
}

static void add_states(struct segment_total *t, unsigned int state)
{
	t->segments++;
	t->clean += !state;
	t->active += (state & SEGMENT_ACTIVE) != 0;
	t->dirty += (state & SEGMENT_DIRTY) != 0;
	t->error += (state & SEGMENT_ERROR) != 0;
	t->protected += (state & SEGMENT_PROTECTED) != 0;
}

void segment_total_add(struct segment_total *t, const struct segment *s)
{
	add_states(t, s->state);
	t->blocks += s->blocks;
	t->written += s->written;
	t->live += s->live;
	t->snapshot += s->snapshot;
	t->recent += s->recent;
	t->dead += segment_dead(s);
	t->without_counts += !s->has_counts;
	if (s->has_data) {
		t->data += s->data;
		t->live_data += s->live_data;
		t->overhead += s->overhead;
	} else if (s->written) {
		t->without_data++;
	}
	if (s->state & SEGMENT_DIRTY && s->has_counts && s->blocks)
		histogram_add(&t->use,
			      value_percent(segment_kept(s),
					    s->blocks).number, 1);
}

static void report_states(const struct segment_total *t, struct report *r)
{
	report_u64(r, "segments", "Segments", t->segments);
	report_u64(r, "clean_segments", "Clean", t->clean);
	report_u64(r, "dirty_segments", "In use", t->dirty);
	report_u64(r, "active_segments", "Active", t->active);
	report_u64(r, "error_segments", "Erroneous", t->error);
	report_u64(r, "protected_segments", "Protected", t->protected);
	report_u64(r, "blocks", "Blocks", t->blocks);
	report_u64(r, "written", "Written", t->written);
}

static void report_counts(const struct segment_total *t, struct report *r,
			  uint32_t block_size)
{
	uint64_t kept = t->live + t->snapshot + t->recent;

	report_u64(r, "live", "Live", t->live);
	report_u64(r, "snapshot", "Snapshots only", t->snapshot);
	report_u64(r, "recent", "Recent only", t->recent);
	report_u64(r, "dead", "Dead", t->dead);
	if (!t->without_data) {
		report_u64(r, "data", "File data", t->data);
		report_u64(r, "metadata", "Metadata", kept - t->data);
		report_u64(r, "overhead", "Summaries, roots", t->overhead);
	}
	report_value(r, VALUE_SIZE, "kept_bytes", "Kept bytes",
		     value_u64(kept * block_size));
	report_value(r, VALUE_SIZE, "dead_bytes", "Dead bytes",
		     value_u64(t->dead * block_size));
	report_value(r, VALUE_PERCENT, "use", "Use",
		     value_percent(kept, t->blocks));
}

void segment_total_report(const struct segment_total *t,
			  struct report *r, uint32_t block_size)
{
	report_begin(r, "totals", "Totals");
	report_states(t, r);
	if (!t->without_counts)
		report_counts(t, r, block_size);
	report_end(r);
}

void segment_total_report_use(const struct segment_total *t,
			      struct report *report)
{
	histogram_report(&t->use, report, "utilization", VALUE_PERCENT,
			 BAR_LENGTH);
}
