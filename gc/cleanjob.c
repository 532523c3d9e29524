// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of cleaning, as the command line asks for it.
 *
 * It is what gc.nilfs2 is for, and is done unless only others are wanted.
 */
#include "gc/cleanjob.h"

#include <inttypes.h>

#include "gc/clean.h"
#include "gc/cleanreport.h"
#include "gc/compactjob.h"
#include "gc/fatelist.h"
#include "gc/watch.h"
#include "vol/volume.h"

/* What is told while it goes on; the argument of both is the first member. */
struct reported {
	struct watch watch;
	struct table table;
};

static uint64_t segment_bytes(const struct nilfs_geometry *g)
{
	return (uint64_t)g->blocks_per_segment << g->block_bits;
}

static int find_geometry(struct context *cx, struct dev *dev,
			 struct nilfs_geometry *g)
{
	struct volume *vol;
	int ret = volume_open_bare(&vol, cx, dev);

	if (!ret)
		*g = vol->geo;
	volume_close(vol);
	return ret;
}

static void tell_fate(void *arg, const struct policy_segment *s,
		      enum clean_fate fate)
{
	struct reported *told = arg;

	fatelist_row(&told->table, s, fate);
}

static void begin_list(struct reported *told, struct tool *tool,
		       struct clean_options *options)
{
	options->fate = tell_fate;
	fatelist_begin(&told->table, &tool->report);
}

struct clean_options cleanjob_options(const struct tool *tool,
				      const struct options *o)
{
	return (struct clean_options){
		.policy = o->policy.policy,
		.metadata_weight = o->policy.weight,
		.max_search = o->max_search,
		.min_dead = o->min_reclaimable,
		.how = {
			.protect = o->protect,
			.batch.time = (uint64_t)tool->cx.now,
			.batch.sums = o->verify ? o->sums : NULL,
			.batch.forecast = options_leave_data(o),
		},
	};
}

int cleanjob_clean(struct tool *tool, const struct options *o,
		   const struct policy *policy, struct dev *dev,
		   struct clean *c, struct nilfs_geometry *g)
{
	bool list = tool->verbose && !o->compare;
	struct reported told;
	struct clean_options options = cleanjob_options(tool, o);
	int ret = find_geometry(&tool->cx, dev, g);

	if (ret)
		return ret;
	options.policy = policy;
	options.goal = options_segments(&o->free, segment_bytes(g),
					g->nsegments);
	watch_begin(&told.watch, tool, &options.how);
	if (o->compare)
		options.how.left = NULL;
	if (list)
		begin_list(&told, tool, &options);
	ret = clean_run(c, &tool->cx, dev, &options);
	watch_end(&told.watch);
	if (list)
		table_end(&told.table);
	return ret;
}

static void report(struct tool *tool, const struct clean *c,
		   const struct nilfs_geometry *g, uint64_t began)
{
	struct report *r = &tool->report;

	report_begin(r, "result", NULL);
	cleanreport_put(r, c, g, began);
	report_end(r);
}

/* Whether as many segments became clean as were wanted. */
static bool is_enough(struct tool *tool, const struct options *o,
		      const struct clean *c, const struct nilfs_geometry *g)
{
	uint64_t goal = options_segments(&o->free, segment_bytes(g),
					 g->nsegments);
	uint64_t freed = cleanreport_freed(c, g) / segment_bytes(g);

	if (goal == CLEAN_ALL || freed >= goal)
		return true;
	tool_warn(tool, "--free: %" PRIu64 " segments were wanted, %" PRIu64
		  " could be freed", goal, freed);
	return false;
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	uint64_t began = tool_clock();
	struct nilfs_geometry g;
	struct clean c;
	int ret = cleanjob_clean(tool, o, o->policy.policy, dev, &c, &g);

	if (ret)
		return ret;
	report(tool, &c, &g, began);
	if (!is_enough(tool, o, &c, &g))
		return JOB_UNDONE;
	return c.left ? JOB_LEFT : 0;
}

static bool is_wanted(const struct options *o)
{
	bool others = o->features || o->shrink.wanted ||
		      o->grow.wanted || o->punch || o->defrag.count;

	if (o->compare || o->output || compactjob.is_wanted(o))
		return false;
	return !others || o->free.unit != OPTIONS_WORTH;
}

const struct job cleanjob = {
	.is_wanted = is_wanted,
	.run = run,
};
