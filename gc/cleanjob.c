// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of cleaning, and of comparing policies.
 *
 * With --verbose cleaning lists the fate of each segment: for the victims of a
 * batch once it is complete, for the others after the last batch.  The counts
 * are those used for the decision.
 *
 * In a comparison each policy cleans the same volume on its own overlay, so a
 * row is what a run with that policy would report, exact to the block.
 */
#include <inttypes.h>

#include "dev/overlay.h"
#include "gc/clean/clean.h"
#include "gc/job.h"
#include "gc/moving.h"
#include "out/table.h"
#include "vol/volume.h"

enum {
	FATE_SEGMENT, FATE_WRITTEN, FATE_LIVE, FATE_SNAPSHOT, FATE_PROTECTED,
	FATE_DEAD, FATE_GAIN, FATE_FATE, FATE_COLUMNS
};

static const struct column fate_columns[FATE_COLUMNS] = {
	[FATE_SEGMENT] = { "segment", "SEGMENT", VALUE_U64, 8, NULL },
	[FATE_WRITTEN] = { "written", "WRITTEN", VALUE_U64, 8, NULL },
	[FATE_LIVE] = { "live", "LIVE", VALUE_U64, 8, NULL },
	[FATE_SNAPSHOT] = { "snapshot", "SNAPSHOT", VALUE_U64, 8, NULL },
	[FATE_PROTECTED] = { "protected", "PROTECTED", VALUE_U64, 9, NULL },
	[FATE_DEAD] = { "dead", "DEAD", VALUE_U64, 8, NULL },
	[FATE_GAIN] = { "reclaimable", "GAIN", VALUE_PERCENT, 6, NULL },
	[FATE_FATE] = { "fate", "FATE", VALUE_PLAIN, 8, NULL },
};

static const char *const fates[] = {
	[CLEAN_FREED] = "cleaned",
	[CLEAN_SPARED] = "spared",
	[CLEAN_FULL] = "no-room",
	[CLEAN_LEFT] = "left",
	[CLEAN_YOUNG] = "young",
	[CLEAN_UNNEEDED] = "unneeded",
};

enum {
	POLICY_NAME, POLICY_CLEANED, POLICY_MOVED, POLICY_WRITTEN, POLICY_FREED,
	POLICY_PER_MOVED, POLICY_PER_FREED, POLICY_COLUMNS
};

static const struct column policy_columns[POLICY_COLUMNS] = {
	[POLICY_NAME] = { "policy", "POLICY", VALUE_PLAIN, 16, NULL },
	[POLICY_CLEANED] = { "segments_cleaned", "CLEANED", VALUE_U64, 8,
			     NULL },
	[POLICY_MOVED] = { "blocks_moved", "MOVED", VALUE_U64, 10, NULL },
	[POLICY_WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 10, NULL },
	[POLICY_FREED] = { "bytes_freed", "FREED", VALUE_SIZE, 10, NULL },
	[POLICY_PER_MOVED] = { "written_per_moved", "PER-MOVED", VALUE_PERCENT,
			       9, NULL },
	[POLICY_PER_FREED] = { "written_per_freed", "PER-FREED", VALUE_PERCENT,
			       9, NULL },
};

/* The argument of callbacks during the run; moving is the first member. */
struct cleanjob_output {
	struct moving moving;
	struct table table;
};

/* A cleaning that was done, of a volume with G. */
struct cleanjob {
	struct nilfs_geometry g;
	struct clean clean;
	uint64_t goal;		/* segments, or CLEAN_ALL */
};

static uint64_t segment_bytes(const struct nilfs_geometry *g)
{
	return (uint64_t)g->blocks_per_segment << g->block_bits;
}

/* Segments that are clean and were not. */
static uint64_t freed_segments(const struct cleanjob *job)
{
	const struct clean *c = &job->clean;

	return c->totals.clean > c->clean_before ?
		       c->totals.clean - c->clean_before : 0;
}

static uint64_t freed_bytes(const struct cleanjob *job)
{
	return freed_segments(job) * segment_bytes(&job->g);
}

/* Bytes written per byte freed, in percent; absent if none was freed. */
static struct value written_per_freed(const struct cleanjob *job)
{
	return value_percent(job->clean.totals.written << job->g.block_bits,
			     freed_bytes(job));
}

static int read_geometry(struct context *cx, struct dev *dev,
			 struct nilfs_geometry *g)
{
	struct volume *vol;
	int ret = volume_open_bare(&vol, cx, dev);

	if (!ret)
		*g = vol->geo;
	volume_close(vol);
	return ret;
}

static void put_fate(void *arg, const struct policy_segment *s,
		     enum clean_fate fate)
{
	struct cleanjob_output *out = arg;
	uint64_t dead = s->live < s->written ? s->written - s->live : 0;
	uint64_t gain = s->live < s->blocks ? s->blocks - s->live : 0;

	table_row(&out->table, (struct value[]){
		[FATE_SEGMENT] = value_u64(s->segnum),
		[FATE_WRITTEN] = value_u64(s->written),
		[FATE_LIVE] = value_u64(s->live),
		[FATE_SNAPSHOT] = value_u64(s->snapshot),
		[FATE_PROTECTED] = value_u64(s->protected),
		[FATE_DEAD] = value_u64(dead),
		[FATE_GAIN] = value_percent(gain, s->blocks),
		[FATE_FATE] = value_string(fates[fate]),
	});
}

/* Cleans DEV by POLICY as O requests, but for that. */
static int clean_by(struct tool *tool, const struct options *o,
		    const struct policy *policy, struct dev *dev,
		    struct cleanjob *job)
{
	struct clean_options options = moving_clean_options(tool, o);
	bool list = tool->verbose && !o->compare;
	struct cleanjob_output out;
	int ret = read_geometry(&tool->cx, dev, &job->g);

	if (ret)
		return ret;
	job->goal = options_segments(&o->free, segment_bytes(&job->g),
				     job->g.nsegments);
	options.goal = job->goal;
	options.policy = policy;
	if (!o->verify)
		options.how.batch.sums = NULL;
	moving_begin(&out.moving, tool, &options.how);
	if (o->compare)
		options.how.left = NULL;
	if (list) {
		options.fate = put_fate;
		table_begin(&out.table, &tool->report, "segments",
			    fate_columns, FATE_COLUMNS);
	}
	ret = clean_run(&job->clean, &tool->cx, dev, &options);
	moving_end(&out.moving);
	if (list)
		table_end(&out.table);
	return ret;
}

static void report_clean(struct tool *tool, const struct cleanjob *job,
			 uint64_t began)
{
	const struct clean *c = &job->clean;
	struct report *r = &tool->report;

	report_begin(r, "result", NULL);
	report_u64(r, "clean_before", "Clean segments before",
		   c->clean_before);
	report_u64(r, "clean_after", "Clean segments now", c->totals.clean);
	report_value(r, VALUE_SIZE, "bytes_freed", "Freed",
		     value_u64(freed_bytes(job)));
	report_value(r, VALUE_PERCENT, "written_per_freed",
		     "Written per byte freed", written_per_freed(job));
	report_u64(r, "segments_cleaned", "Segments cleaned",
		   c->totals.victims);
	report_u64(r, "segments_left", "Segments skipped", c->left);
	moving_put(r, &c->totals, began);
	report_end(r);
}

int cleanjob_clean(struct tool *tool, const struct options *o, struct dev *dev)
{
	uint64_t began = tool_clock();
	struct cleanjob job;
	int ret = clean_by(tool, o, o->policy.policy, dev, &job);

	if (ret)
		return ret;
	report_clean(tool, &job, began);
	if (job.goal != CLEAN_ALL && freed_segments(&job) < job.goal) {
		tool_warn(tool, "%s: --free: %" PRIu64 " segments requested, %"
			  PRIu64 " freed", tool->argv[0], job.goal,
			  freed_segments(&job));
		return JOB_UNDONE;
	}
	return job.clean.left ? JOB_LEFT : 0;
}

static void put_policy(struct table *table, const char *name,
		       const struct cleanjob *job)
{
	const struct batch_totals *totals = &job->clean.totals;

	table_row(table, (struct value[]){
		[POLICY_NAME] = value_string(name),
		[POLICY_CLEANED] = value_u64(totals->victims),
		[POLICY_MOVED] = value_u64(totals->moved),
		[POLICY_WRITTEN] = value_u64(totals->written),
		[POLICY_FREED] = value_u64(freed_bytes(job)),
		[POLICY_PER_MOVED] = moving_per_moved(totals),
		[POLICY_PER_FREED] = written_per_freed(job),
	});
}

static int forecast_policy(struct tool *tool, const struct options *o,
			   struct dev *dev, const struct policy *policy,
			   struct table *table)
{
	struct cleanjob job;
	struct dev *overlay;
	int ret = overlay_open(&overlay, &tool->cx, dev);

	if (!ret)
		ret = clean_by(tool, o, policy, overlay, &job);
	if (!ret)
		put_policy(table, policy->name, &job);
	dev_close(overlay);
	return ret;
}

int cleanjob_compare(struct tool *tool, const struct options *o,
		     struct dev *dev)
{
	struct table table;
	size_t i;
	int ret = 0;

	table_begin(&table, &tool->report, "policies", policy_columns,
		    POLICY_COLUMNS);
	for (i = 0; i < policy_count && !ret; i++)
		ret = forecast_policy(tool, o, dev, &policy_list[i], &table);
	table_end(&table);
	return ret;
}
