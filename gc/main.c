// SPDX-License-Identifier: GPL-2.0-or-later
/* gc.nilfs2: opens the device or mounted volume, and runs the requested jobs. */
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/context.h"
#include "cli/outfile.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/overlay.h"
#include "disk/segusage.h"
#include "gc/job.h"
#include "gc/move/sums.h"
#include "gc/move/target.h"
#include "gc/options.h"
#include "live/cleanerlock.h"
#include "live/live.h"
#include "out/segmap.h"
#include "vol/liveness.h"
#include "vol/protection.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/*
 * Draws the segments of the volume on DEV as dump.nilfs2 does: *M, to be freed after a
 * failure too.  Live blocks are counted as for cleaning, with a protection period of
 * PROTECT seconds.
 */
static int draw_segments(struct context *cx, struct dev *dev, uint64_t protect,
			 struct segmap **m)
{
	struct nilfs_segment_usage_ext su;
	struct segmap_volume v;
	uint64_t cno = UINT64_MAX, segnum;
	struct sutable_cursor cur = { 0 };
	struct liveness *l = NULL;
	struct liveness_counts c;
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	if (ret)
		goto out;
	if (protect)
		ret = protection_cno(vol, cx, protect, &cno);
	if (!ret)
		ret = liveness_count(vol, cx, cno, &l);
	v = (struct segmap_volume){
		.device_bytes = dev->size,
		.segment_bytes = (uint64_t)vol->geo.blocks_per_segment
				 << vol->geo.block_bits,
		.segments = vol->geo.nsegments,
		.checkpoint = vol->latest.cno,
	};
	volume_label(vol, v.label);
	if (!ret)
		ret = segmap_open(cx, &v, 0, 0, m);
	if (!ret)
		ret = sutable_cursor_open(&cur, cx, vol, true);
	while (!ret && (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		c = liveness_of(l, segnum);
		segmap_add(*m, segnum, &(struct segmap_segment){
			.error = segusage_is_error(&su.su),
			.active = segnum == vol->latest.segnum ||
				  segnum == vol->latest.nextnum,
			.dirty = segusage_is_dirty(&su.su),
			.counted = true,
			.blocks = (uint32_t)
				(geometry_segment_end(&vol->geo, segnum) -
				 geometry_segment_start(&vol->geo, segnum)),
			.kept = c.current + c.snapshot + c.protected,
			.live = c.current,
			.snapshot = c.snapshot,
		});
		ret = context_cancelled(cx);
	}
	sutable_cursor_close(&cur);
	liveness_free(l);
out:
	volume_close(vol);
	return ret;
}

/* Runs the jobs, with a picture of the result if requested. */
static int run_jobs(struct tool *tool, const struct options *o,
		    struct dev *dev)
{
	const char *const inputs[] = { tool->argv[0], NULL };
	/* --force would delete snapshots, too. */
	const struct output_how how = { .inputs = inputs };
	struct context *cx = &tool->cx;
	static const char *const names[] = { "Before", "After" };
	struct segmap *maps[2] = { NULL, NULL };
	struct outfile file;
	int ret, err;

	if (!o->svg)
		return jobs_run(tool, o, dev);
	ret = outfile_open(&file, cx, o->svg, &how);
	if (ret)
		return ret;
	ret = draw_segments(cx, dev, o->protect, &maps[0]);
	if (!ret)
		ret = jobs_run(tool, o, dev);
	if (ret >= 0) {
		err = draw_segments(cx, dev, o->protect, &maps[1]);
		if (!err)
			err = segmap_document(cx, file.out, maps, names, 2);
		ret = err ? err : ret;
	}
	free(maps[0]);
	free(maps[1]);
	return outfile_close(&file, cx, ret);
}

static void warn_flipped(void *arg, const char *text)
{
	struct tool *tool = arg;

	tool_warn(tool, "%s: %s", tool->argv[0], text);
}

/* Seconds to wait for another cleaner, which holds the lock for one batch. */
#define CLEANER_WAIT 60

/* Runs the jobs on the volume mounted on a directory. */
static int run_mounted(struct tool *tool, struct options *o)
{
	struct context *cx = &tool->cx;
	struct cleanerlock *lock = NULL;
	struct live *live = NULL;
	struct target target = { .dev = NULL };
	struct nilfs_cpstat cps;
	int ret = live_open(&live, cx, tool->argv[0]);

	if (!ret && live->read_only && !o->dry_run)
		ret = fail_said(cx, -EROFS, "%s: mounted read-only; mount it for "
				"writing, or unmount it and give the device %s",
				live->dir, live->device);
	if (!ret && !o->dry_run)
		ret = live_permitted(live, cx);
	if (!ret)
		ret = live_request(live, cx, NILFS_IOCTL_GET_CPSTAT, &cps);
	if (!ret)
		ret = cleanerlock_take(&lock, cx, live, CLEANER_WAIT);
	if (!ret)
		ret = target_open_mounted(&target, cx, live->device);
	if (!ret) {
		o->live = live;
		o->lock = lock;
		o->since = cps.cs_cno;
		ret = run_jobs(tool, o, target.dev);
	}
	target_close(&target);
	cleanerlock_release(lock);
	live_close(live);
	return ret;
}

static int run_gc(struct tool *tool, const void *options)
{
	struct options o = *(const struct options *)options;
	struct context child;
	struct sums sums = { .dev = NULL };
	struct dev *dev, *overlay;
	uint64_t former = 0;
	struct target t;
	int ret;

	context_child(&tool->cx, &child);
	if (jobs_check(&child, &o))
		return tool_usage(tool, "%s", child.failure);
	o.dry_run |= o.compare;
	if (o.status)
		return watchjob_status(tool);
	if (o.watch)
		return watchjob_run(tool, &o);
	if (live_is_directory(tool->argv[0]))
		return run_mounted(tool, &o);
	ret = target_open(&t, &tool->cx, tool->argv[0],
			  o.dry_run || o.output);
	if (!ret)
		ret = resizejob_extend(tool, &o, t.dev, &former);
	if (!ret && !o.no_check)
		ret = checkpointjob_precheck(tool, &o, t.dev);
	/* Nothing was written beyond its former end. */
	if (ret && former)
		dev_resize(t.dev, &child, former);
	else if (former)
		tool_note(tool, "%s: extended to the size of the volume",
			  tool->argv[0]);
	dev = t.dev;
	if (!ret && !o.no_verify) {
		/* Jobs read flipped bits with their original values. */
		ret = sums_open(&sums, &tool->cx, dev);
		sums.found = warn_flipped;
		sums.arg = tool;
		o.sums = &sums;
		dev = sums.dev;
	}
	if (!ret && o.dry_run) {
		/* All jobs run on an overlay that is dropped. */
		ret = overlay_open(&overlay, &tool->cx, dev, true);
		if (!ret)
			ret = run_jobs(tool, &o, overlay);
		dev_close(overlay);
	} else if (!ret) {
		ret = run_jobs(tool, &o, dev);
	}
	sums_close(&sums);
	target_close(&t);
	return ret;
}

static const struct cli_heading headings[] = {
	{ "What is cleaned",
	  "free min-reclaimable protect policy max-search compare latency" },
	{ "Staying with a mounted volume",
	  "watch low high speed status" },
	{ "Compaction, defragmentation and copies",
	  "compact order defrag output" },
	{ "Size and unused space",
	  "shrink grow punch trim purge" },
	{ "Checkpoints and snapshots",
	  "delete-checkpoints force keep-snapshots keep keep-state take-snapshot "
	  "to-checkpoint to-snapshot" },
	{ "Features and properties",
	  "features label uuid check-interval max-mounts "
	  "commit-interval commit-blocks" },
	{ "Checks",
	  "dry-run no-check no-verify" },
	{ "Output and resources",
	  "svg" },
	{ NULL, NULL },
};

static const struct cli_command command = {
	.summary = "collect the garbage of a NILFS2 volume",
	.synopsis = "DEVICE|DIRECTORY",
	.options = options_rows,
	.headings = headings,
	.options_size = sizeof(struct options),
	.defaults = &options_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = run_gc,
};

static const struct cli_tool gc = {
	.name = "gc.nilfs2",
	.summary = "Collect the garbage of a NILFS2 volume.",
	.only = &command,
	.exit_failure = 1,
	.exit_usage = 2,
	/* The larger a batch, the fewer times its metadata is written. */
	.max_memory = 128u << 20,
};

/*
 * glibc raises its threshold for mmap() when a large allocation is freed, and
 * then caches such allocations for each thread: twice the memory in use after
 * some batches.  An explicit threshold is not raised.
 */
#define MAPPED (1 << 20)

int main(int argc, char **argv)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, MAPPED);
#endif
	return tool_main(&gc, argc, argv);
}
