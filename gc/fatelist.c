// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What became of each segment.
 *
 * Rows come as it is decided: the victims of a batch once it is complete, the
 * others when there is no batch any more.  The counts are those on which it was
 * decided; a segment that snapshots hold shows it.
 */
#include "gc/fatelist.h"

enum { SEGMENT, WRITTEN, LIVE, SNAPSHOT, PROTECTED, DEAD, GAIN, FATE, COLUMNS };

static const struct column columns[COLUMNS] = {
	[SEGMENT] = { "segment", "SEGMENT", VALUE_U64, 8, NULL },
	[WRITTEN] = { "written", "WRITTEN", VALUE_U64, 8, NULL },
	[LIVE] = { "live", "LIVE", VALUE_U64, 8, NULL },
	[SNAPSHOT] = { "snapshot", "SNAPSHOT", VALUE_U64, 8, NULL },
	[PROTECTED] = { "protected", "PROTECTED", VALUE_U64, 9, NULL },
	[DEAD] = { "dead", "DEAD", VALUE_U64, 8, NULL },
	[GAIN] = { "reclaimable", "GAIN", VALUE_PERCENT, 6, NULL },
	[FATE] = { "fate", "FATE", VALUE_PLAIN, 8, NULL },
};

static const char *const fates[] = {
	[CLEAN_FREED] = "cleaned",
	[CLEAN_SPARED] = "spared",
	[CLEAN_FULL] = "no-room",
	[CLEAN_LEFT] = "left",
	[CLEAN_YOUNG] = "young",
	[CLEAN_UNNEEDED] = "unneeded",
};

void fatelist_begin(struct table *table, struct report *r)
{
	table_begin(table, r, "segments", columns, COLUMNS);
}

void fatelist_row(struct table *table, const struct policy_segment *s,
		  enum clean_fate fate)
{
	uint64_t dead = s->live < s->written ? s->written - s->live : 0;
	uint64_t gain = s->live < s->blocks ? s->blocks - s->live : 0;

	table_row(table, (struct value[]){
		[SEGMENT] = value_u64(s->segnum),
		[WRITTEN] = value_u64(s->written),
		[LIVE] = value_u64(s->live),
		[SNAPSHOT] = value_u64(s->snapshot),
		[PROTECTED] = value_u64(s->protected),
		[DEAD] = value_u64(dead),
		[GAIN] = value_percent(gain, s->blocks),
		[FATE] = value_string(fates[fate]),
	});
}
