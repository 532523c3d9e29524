// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of cleaning, and of comparing policies.
 *
 * With --verbose cleaning lists the fate of each segment: for the victims of a
 * batch once it is complete, for the others after the last batch.  The counts
 * are those used for the decision.
 *
 * In a comparison each policy cleans the same volume on its own overlay, so a
 * row is exactly the report of a run with that policy.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "dev/overlay.h"
#include "disk/super.h"
#include "gc/clean/clean.h"
#include "gc/clean/purge.h"
#include "gc/job.h"
#include "gc/move/target.h"
#include "gc/live/online.h"
#include "gc/moving.h"
#include "live/live.h"
#include "out/table.h"
#include "vol/liveness.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/*
 * Deallocating space.
 *
 * Clean segments, and the space between the last segment and the second
 * superblock, are discarded: an image file has holes there.  Dead blocks of
 * other segments stay, because the checksums of logs cover them.
 *
 * A segment with live blocks that the SUFILE records as clean would be lost, so
 * the DAT is checked first.  This and purging are the last jobs, since they use
 * the space that others have freed.
 */

struct punch {
	struct volume *vol;
	struct liveness *liveness;
	struct dev *dev;
	uint64_t first, end;	/* a run of free blocks not discarded yet */
	uint64_t segments;	/* clean ones */
	uint64_t bytes;		/* deallocated, including those after the segments */
};

/*
 * Adds the free blocks [FIRST, END); discards the previous run if they do not
 * continue it.
 */
static int punch_blocks(struct punch *p, struct context *cx, uint64_t first,
			uint64_t end)
{
	uint64_t bits = p->vol->geo.block_bits, start = p->first;
	uint64_t len = (p->end - start) << bits;

	if (first == p->end) {
		p->end = end;
		return 0;
	}
	p->first = first;
	p->end = end;
	p->bytes += len;
	return len ? dev_discard(p->dev, cx, start << bits, len) : 0;
}

static int add_clean(void *arg, struct context *cx, uint64_t segnum,
		     const struct nilfs_segment_usage *su)
{
	struct punch *p = arg;
	struct liveness_counts c = liveness_of(p->liveness, segnum);

	if (!segusage_is_clean(su))
		return 0;
	if (c.current || c.snapshot)
		return fail(cx, -EUCLEAN, "segment %" PRIu64 ": is clean, but "
					  "has live blocks; run fsck.nilfs2",
					  segnum);
	p->segments++;
	return punch_blocks(p, cx, geometry_segment_start(&p->vol->geo, segnum),
			    geometry_segment_end(&p->vol->geo, segnum));
}

static void report_punched(struct report *r, uint64_t segments, uint64_t bytes)
{
	report_begin(r, "punch", NULL);
	report_u64(r, "segments", "Clean segments", segments);
	report_size(r, "bytes", "Space deallocated", bytes);
	report_end(r);
}

/*
 * The same with a mounted volume, by the kernel.  nilfs_sufile_trim_fs() counts in
 * sectors of the device, but discards as many of 512 bytes: of larger ones, other
 * blocks would be lost.
 */
static int trim_mounted(struct tool *tool, const struct options *o,
			struct dev *dev)
{
	struct fstrim_range range = { .len = UINT64_MAX };
	struct context *cx = &tool->cx;
	struct nilfs_sustat stat;
	struct volume *vol;
	uint64_t segment;	/* bytes */
	int ret;

	if (dev->sector_size != 512)
		return fail_said(cx, -EOPNOTSUPP, "%s: has sectors of %" PRIu32
				 " bytes, of which the kernel discards the wrong "
				 "ones; unmount it before", dev->name,
				 dev->sector_size);
	ret = volume_open_bare(&vol, cx, dev);
	segment = ret ? 0 : (uint64_t)vol->geo.blocks_per_segment <<
				    vol->geo.block_bits;
	volume_close(vol);
	if (!ret)
		ret = live_request(o->live, cx, NILFS_IOCTL_GET_SUSTAT, &stat);
	if (!ret && !o->dry_run)
		ret = live_request(o->live, cx, FITRIM, &range);
	if (ret == -EOPNOTSUPP)
		return fail_said(cx, ret, "%s: cannot discard", dev->name);
	if (ret)
		return ret;
	report_punched(&tool->report, stat.ss_ncleansegs,
		       o->dry_run ? stat.ss_ncleansegs * segment : range.len);
	return 0;
}

int cleanjob_punch(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct context *cx = &tool->cx;
	struct punch p = { .dev = dev };
	uint64_t size, first, end;
	int ret;

	if (dev->zones)
		return fail(cx, -EOPNOTSUPP, "%s: has zones; gc resets them "
			    "when it uses them again", dev->name);
	if (o->live)
		return trim_mounted(tool, o, dev);
	ret = target_open_volume(&p.vol, cx, dev);
	if (!ret)
		ret = liveness_count(p.vol, cx, UINT64_MAX, &p.liveness);
	if (!ret)
		ret = sutable_walk(p.vol, cx, true, add_clean, &p);
	if (!ret) {
		/* The space after the segments, up to the superblock. */
		size = le64_get(volume_super(p.vol)->s_dev_size);
		first = p.vol->geo.nsegments * p.vol->geo.blocks_per_segment;
		end = super_offset2(size < dev->size ? size : dev->size) >>
		      p.vol->geo.block_bits;
		if (end > first)
			ret = punch_blocks(&p, cx, first, end);
	}
	if (!ret)
		ret = punch_blocks(&p, cx, UINT64_MAX, UINT64_MAX);
	if (!ret)
		ret = dev_flush(dev, cx);
	liveness_free(p.liveness);
	volume_close(p.vol);
	if (ret)
		return ret;
	report_punched(&tool->report, p.segments, p.bytes);
	return 0;
}

/* The argument of callbacks during the run; moving is the first member. */
struct zeroing_output {
	struct moving moving;
	uint64_t size;		/* of the device */
	bool zeros;		/* the progress of zeroing has begun */
};

static void show_zeros(void *arg, uint64_t bytes)
{
	struct zeroing_output *out = arg;
	struct progress *p = &out->moving.tool->progress;

	if (!out->zeros)
		progress_begin(p, "zeros", out->size, true);
	out->zeros = true;
	progress_update(p, bytes);
}

int cleanjob_purge(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct collector_options how = moving_options(tool, o);
	struct zeroing_output out = { .size = dev->size };
	struct purge p = {
		.zeroing.done = show_zeros,
		.zeroing.arg = &out,
	};
	struct report *r = &tool->report;
	uint64_t began = tool_clock();
	int ret;

	how.batch.forecast = o->dry_run;
	how.batch.front = o->compact >= 0;
	moving_begin(&out.moving, tool, &how);
	ret = purge_run(&p, &tool->cx, dev, &how);
	progress_end(&tool->progress);
	if (ret)
		return ret;
	if (p.zeroing.skipped)
		tool_warn(tool, "%s: %" PRIu64 " segments are marked as "
			  "erroneous and were not purged", tool->argv[0],
			  p.zeroing.skipped);
	if (p.left)
		tool_warn(tool, "%s: %" PRIu64 " segments with unused blocks "
			  "could not be cleaned and were not purged",
			  tool->argv[0], p.left);
	report_begin(r, "purge", NULL);
	report_u64(r, "segments_cleaned", "Segments cleaned",
		   p.totals.victims);
	report_u64(r, "segments_left", "Segments not purged",
		   p.left + p.zeroing.skipped);
	report_size(r, "bytes_zero", "Space zeroed", p.zeroing.bytes);
	moving_put(r, &p.totals, began);
	report_end(r);
	return p.left || p.zeroing.skipped ? JOB_LEFT : 0;
}

enum {
	FATE_SEGMENT, FATE_WRITTEN, FATE_LIVE, FATE_SNAPSHOT, FATE_PROTECTED,
	FATE_DEAD, FATE_GAIN, FATE_FATE, FATE_COLUMNS
};

static const struct column fate_columns[FATE_COLUMNS] = {
	[FATE_SEGMENT] = { "segment", "SEGMENT", VALUE_U64, 8 },
	[FATE_WRITTEN] = { "written", "WRITTEN", VALUE_U64, 8 },
	[FATE_LIVE] = { "live", "LIVE", VALUE_U64, 8 },
	[FATE_SNAPSHOT] = { "snapshot", "SNAPSHOT", VALUE_U64, 8 },
	[FATE_PROTECTED] = { "protected", "PROTECTED", VALUE_U64, 9 },
	[FATE_DEAD] = { "dead", "DEAD", VALUE_U64, 8 },
	[FATE_GAIN] = { "reclaimable", "GAIN", VALUE_PERCENT, 6 },
	[FATE_FATE] = { "fate", "FATE", VALUE_PLAIN, 8 },
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
	[POLICY_NAME] = { "policy", "POLICY", VALUE_PLAIN, 16 },
	[POLICY_CLEANED] = { "segments_cleaned", "CLEANED", VALUE_U64, 8 },
	[POLICY_MOVED] = { "blocks_moved", "MOVED", VALUE_U64, 10 },
	[POLICY_WRITTEN] = { "blocks_written", "WRITTEN", VALUE_U64, 10 },
	[POLICY_FREED] = { "bytes_freed", "FREED", VALUE_SIZE, 10 },
	[POLICY_PER_MOVED] = { "written_per_moved", "PER-MOVED", VALUE_PERCENT,
			       9 },
	[POLICY_PER_FREED] = { "written_per_freed", "PER-FREED", VALUE_PERCENT,
			       9 },
};

/* The argument of callbacks during the run; moving is the first member. */
struct cleanjob_output {
	struct moving moving;
	struct table table;
};

/* The result of a cleaning. */
struct cleanjob {
	struct clean clean;
	uint64_t goal;		/* segments, or CLEAN_ALL */
	uint64_t freed, freed_bytes;	/* segments gained */
	struct value per_freed;		/* percent written; or absent */
	uint32_t block_size;
};

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

/* Cleans DEV by POLICY instead of that of O, otherwise as O requests. */
static int clean_by(struct tool *tool, const struct options *o,
		    const struct policy *policy, struct dev *dev,
		    struct cleanjob *job)
{
	struct clean_options options = moving_clean_options(tool, o);
	const struct clean *c = &job->clean;
	bool list = tool->verbose && !o->compare;
	struct cleanjob_output out;
	struct nilfs_geometry g;
	uint64_t bytes;		/* of a segment */
	int ret = moving_geometry(&tool->cx, dev, &g);

	if (ret)
		return ret;
	bytes = (uint64_t)g.blocks_per_segment << g.block_bits;
	job->block_size = g.block_size;
	job->goal = options_segments(&o->free, bytes, g.nsegments);
	options.goal = job->goal;
	options.policy = policy;
	moving_begin(&out.moving, tool, &options.how);
	if (o->compare) {
		options.how.left = NULL;
		options.how.deleting = NULL;
	}
	if (list) {
		options.fate = put_fate;
		table_begin(&out.table, &tool->report, "segments",
			    fate_columns, FATE_COLUMNS);
	}
	ret = clean_run(&job->clean, &tool->cx, dev, &options);
	progress_end(&tool->progress);
	if (list)
		table_end(&out.table);
	job->freed = c->totals.clean > c->clean_before ?
			     c->totals.clean - c->clean_before : 0;
	job->freed_bytes = job->freed * bytes;
	job->per_freed = value_percent(c->totals.written << g.block_bits,
				       job->freed_bytes);
	return ret;
}

/*
 * Reports why a run with O does not free more: the blocks of BLOCK_SIZE that are not in
 * the latest state, by what keeps them; if it IS_SHORT of what was requested, or of all,
 * with the option that would free most.
 */
static void put_rest(struct report *r, const struct options *o,
		     const struct clean_rest *rest, uint32_t block_size, bool is_short)
{
	const struct {
		const char *key, *label, *help;
		uint64_t blocks;
	} rows[] = {
		{ "protected_bytes", "Protection period",
		  "a shorter period of --protect gives up old states", rest->protected },
		{ "snapshot_bytes", "Snapshots",
		  "--to-checkpoint or --delete-checkpoints with --force gives "
		  "up snapshots; dump.nilfs2 checkpoints lists them", rest->snapshot },
		{ "spared_bytes", "--min-reclaimable",
		  "--min-reclaimable 1 moves more for it", rest->spared },
		{ "other_bytes", "Too little gain", "--compact --shrink, or "
		  "--output, writes the live blocks densely", rest->others },
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
	size_t i, most = 0;

	report_begin(r, "kept", "Old or dead, and not freed because of");
	for (i = 0; i < ROWS; i++) {
		report_size(r, rows[i].key, rows[i].label,
			    rows[i].blocks * block_size);
		if (rows[i].blocks > rows[most].blocks)
			most = i;
	}
	if (rows[most].blocks && is_short)
		report_text(r, "To free more: %s%s", rows[most].help,
			    o->live && most == ROWS - 1 ?
				    ", with the volume unmounted" : "");
	report_end(r);
}

/* Candidates on a mounted volume get this share of the memory. */
#define MEMORY_SHARE 16

/* Cleans a mounted volume, by calls of the kernel. */
static int clean_mounted(struct tool *tool, const struct options *o,
			 struct dev *dev)
{
	struct online_options options = moving_online_options(o);
	struct report *r = &tool->report;
	uint64_t began = tool_clock(), bytes;	/* of a segment */
	struct cleanjob_output out;
	struct collector_options how = { .left = NULL };
	struct nilfs_geometry g;
	struct online n;
	bool is_short;
	int ret = moving_geometry(&tool->cx, dev, &g);

	if (ret)
		return ret;
	bytes = (uint64_t)g.blocks_per_segment << g.block_bits;
	options.goal = options_segments(&o->free, bytes, g.nsegments);
	moving_begin(&out.moving, tool, &how);
	options.arg = &out;
	options.left = how.left;
	options.moving = how.moving;
	options.deleting = how.deleting;
	options.most = (size_t)(tool->cx.max_memory / MEMORY_SHARE /
				sizeof(struct policy_segment));
	if (tool->verbose) {
		options.fate = put_fate;
		table_begin(&out.table, r, "segments", fate_columns,
			    FATE_COLUMNS);
	}
	ret = online_run(&n, &tool->cx, o->live, dev, tool_clock, &options);
	progress_end(&tool->progress);
	if (tool->verbose)
		table_end(&out.table);
	if (ret)
		return ret;
	report_begin(r, "result", NULL);
	report_u64(r, "clean_before", "Clean segments before", n.clean_before);
	report_u64(r, "clean_after", "Clean segments after", n.clean_after);
	report_size(r, "bytes_freed", "Space freed", n.gained * bytes);
	report_u64(r, "segments_cleaned", "Segments cleaned", n.victims);
	report_u64(r, "segments_left", "Segments skipped", n.left);
	report_u64(r, "blocks_moved", "Blocks moved", n.moved);
	report_u64(r, "blocks_forgotten", "Virtual blocks freed", n.freed);
	report_u64(r, "calls", "Calls of the kernel", n.calls);
	if (dev->zones || r->mode != REPORT_TEXT)
		report_u64(r, "zones_reset", "Zones reset", n.resets);
	report_u64(r, "longest_ms", "Longest call in milliseconds", n.longest);
	report_u64(r, "elapsed_ms", "Time in milliseconds", tool_clock() - began);
	report_end(r);
	is_short = options.goal == CLEAN_ALL || n.gained < options.goal;
	if (o->dry_run || !report_is_text(r))
		put_rest(r, o, &n.rest, g.block_size, is_short);
	if (n.short_memory && is_short)
		tool_warn(tool, "%s: --max-memory: only %zu segments, the best by the "
			  "policy, were considered", tool->argv[0], options.most);
	if (options.goal != CLEAN_ALL && is_short) {
		tool_warn(tool, "%s: --free: %" PRIu64 " segments requested, %"
			  PRIu64 " freed", tool->argv[0], options.goal,
			  n.gained);
		return JOB_UNDONE;
	}
	return n.left ? JOB_LEFT : 0;
}

int cleanjob_clean(struct tool *tool, const struct options *o, struct dev *dev)
{
	uint64_t began = tool_clock();
	struct report *r = &tool->report;
	struct cleanjob job;
	const struct clean *c = &job.clean;
	bool is_short;
	int ret = o->live ? clean_mounted(tool, o, dev) :
			    clean_by(tool, o, o->policy.policy, dev, &job);

	if (ret || o->live)
		return ret;
	report_begin(r, "result", NULL);
	report_u64(r, "clean_before", "Clean segments before",
		   c->clean_before);
	report_u64(r, "clean_after", "Clean segments after", c->totals.clean);
	report_size(r, "bytes_freed", "Space freed", job.freed_bytes);
	report_value(r, VALUE_PERCENT, "written_per_freed",
		     "Bytes written / freed", job.per_freed);
	report_u64(r, "segments_cleaned", "Segments cleaned",
		   c->totals.victims);
	report_u64(r, "segments_left", "Segments skipped", c->left);
	moving_put(r, &c->totals, began);
	report_end(r);
	is_short = job.goal == CLEAN_ALL || job.freed < job.goal;
	if (o->dry_run || !report_is_text(r))
		put_rest(r, o, &c->rest, job.block_size, is_short);
	if (c->short_memory && is_short)
		tool_warn(tool, "%s: --max-memory: a batch of this size gains "
			  "nothing more; a larger one may", tool->argv[0]);
	if (job.goal != CLEAN_ALL && is_short) {
		tool_warn(tool, "%s: --free: %" PRIu64 " segments requested, %"
			  PRIu64 " freed", tool->argv[0], job.goal, job.freed);
		return JOB_UNDONE;
	}
	return c->left ? JOB_LEFT : 0;
}

int cleanjob_compare(struct tool *tool, const struct options *o,
		     struct dev *dev)
{
	struct cleanjob job;
	const struct batch_totals *totals = &job.clean.totals;
	struct dev *overlay;
	struct table table;
	size_t i;
	int ret = 0;

	table_begin(&table, &tool->report, "policies", policy_columns,
		    POLICY_COLUMNS);
	for (i = 0; i < policy_count && !ret; i++) {
		ret = overlay_open(&overlay, &tool->cx, dev, true);
		if (!ret)
			ret = clean_by(tool, o, &policy_list[i], overlay, &job);
		dev_close(overlay);
		if (ret)
			break;
		table_row(&table, (struct value[]){
			[POLICY_NAME] = value_string(policy_list[i].name),
			[POLICY_CLEANED] = value_u64(totals->victims),
			[POLICY_MOVED] = value_u64(totals->moved),
			[POLICY_WRITTEN] = value_u64(totals->written),
			[POLICY_FREED] = value_u64(job.freed_bytes),
			[POLICY_PER_MOVED] = value_percent(totals->written,
							   totals->moved),
			[POLICY_PER_FREED] = job.per_freed,
		});
	}
	table_end(&table);
	return ret;
}
