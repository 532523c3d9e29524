// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of comparing policies.
 *
 * Each cleans the same volume on an overlay of its own, so a row is what a run
 * with that policy would tell, to the block.  It comes in the place of
 * cleaning, after what was to be done before.
 */
#include "gc/comparejob.h"

#include "dev/overlay.h"
#include "gc/cleanjob.h"
#include "gc/cleanreport.h"
#include "gc/totalsreport.h"
#include "out/table.h"

enum { POLICY, CLEANED, MOVED, WRITTEN, FREED, PER_MOVED, PER_FREED, COLUMNS };

static const struct column columns[COLUMNS] = {
	[POLICY] = { "policy", "POLICY", VALUE_PLAIN, 16, NULL },
	[CLEANED] = { "segments_cleaned", "CLEANED", VALUE_U64, 8, NULL },
	[MOVED] = { "blocks_moved", "MOVED", VALUE_U64, 10, NULL },
	[WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 10, NULL },
	[FREED] = { "bytes_freed", "FREED", VALUE_SIZE, 10, NULL },
	[PER_MOVED] = { "written_per_moved", "PER-MOVED", VALUE_PERCENT, 9,
			NULL },
	[PER_FREED] = { "written_per_freed", "PER-FREED", VALUE_PERCENT, 9,
			NULL },
};

static void put_row(struct table *table, const char *policy,
		    const struct clean *c, const struct nilfs_geometry *g)
{
	table_row(table, (struct value[]){
		[POLICY] = value_string(policy),
		[CLEANED] = value_u64(c->totals.victims),
		[MOVED] = value_u64(c->totals.moved),
		[WRITTEN] = value_u64(c->totals.written),
		[FREED] = value_u64(cleanreport_freed(c, g)),
		[PER_MOVED] = totalsreport_per_moved(&c->totals),
		[PER_FREED] = cleanreport_per_freed(c, g),
	});
}

static int try(struct tool *tool, const struct options *o, struct dev *dev,
	       const struct policy *policy, struct table *table)
{
	struct nilfs_geometry g;
	struct dev *overlay;
	struct clean c;
	int ret = overlay_open(&overlay, &tool->cx, dev);

	if (!ret)
		ret = cleanjob_clean(tool, o, policy, overlay, &c, &g);
	if (!ret)
		put_row(table, policy->name, &c, &g);
	dev_close(overlay);
	return ret;
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct table table;
	size_t i;
	int ret = 0;

	table_begin(&table, &tool->report, "policies", columns, COLUMNS);
	for (i = 0; i < policy_count && !ret; i++)
		ret = try(tool, o, dev, &policy_list[i], &table);
	table_end(&table);
	return ret;
}

static bool is_wanted(const struct options *o)
{
	return o->compare;
}

const struct job comparejob = {
	.is_wanted = is_wanted,
	.run = run,
};
