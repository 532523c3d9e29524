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
#include "dev/devfile.h"
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
 * The segments before and after.
 *
 * Two maps as drawn by dump.nilfs2, nested in one document.  Live blocks are
 * counted as for cleaning, protection period included.
 */

struct beforeafter {
	struct outfile file;
	struct segmap_volume volume;	/* the state drawn last */
	uint64_t protect;	/* seconds */
};

struct cells {
	struct segmap *picture;
	const struct volume *vol;
	const struct liveness *live;
};

static int add_cell(void *arg, struct context *cx, uint64_t segnum,
		    const struct nilfs_segment_usage *su)
{
	const struct cells *cells = arg;
	const struct volume *vol = cells->vol;
	struct liveness_counts c = liveness_of(cells->live, segnum);
	const struct segmap_segment s = {
		.error = segusage_is_error(su),
		.active = segnum == vol->latest.segnum ||
			  segnum == vol->latest.nextnum,
		.dirty = segusage_is_dirty(su),
		.counted = true,
		.blocks = (uint32_t)(geometry_segment_end(&vol->geo, segnum) -
				     geometry_segment_start(&vol->geo,
							    segnum)),
		.kept = c.current + c.snapshot + c.protected,
		.live = c.current,
		.snapshot = c.snapshot,
	};

	(void)cx;
	segmap_add(cells->picture, segnum, &s);
	return 0;
}

/* Counts the volume on DEV and draws it: *P, NULL after a failure. */
static int draw_segment_map(struct beforeafter *b, struct context *cx,
			    struct dev *dev, struct segmap **p)
{
	uint64_t cno = UINT64_MAX;
	struct liveness *l = NULL;
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	*p = NULL;
	if (ret)
		goto out;
	if (b->protect)
		ret = protection_cno(vol, cx, b->protect, &cno);
	if (!ret)
		ret = liveness_count(vol, cx, cno, &l);
	b->volume = (struct segmap_volume){
		.device_bytes = dev->size,
		.segment_bytes = (uint64_t)vol->geo.blocks_per_segment
				 << vol->geo.block_bits,
		.segments = vol->geo.nsegments,
		.checkpoint = vol->latest.cno,
	};
	volume_label(vol, b->volume.label);
	if (!ret)
		ret = segmap_open(cx, &b->volume, 0, 0, p);
	if (!ret)
		ret = sutable_walk(vol, cx, true, add_cell,
				   &(struct cells){ *p, vol, l });
	liveness_free(l);
out:
	volume_close(vol);
	if (ret) {
		free(*p);
		*p = NULL;
	}
	return ret;
}

/* Runs the jobs, with a picture of the result if requested. */
static int run_jobs(struct tool *tool, const struct options *o,
		    struct dev *dev)
{
	const char *const inputs[] = { tool->argv[0], NULL };
	/* --force would delete snapshots, too. */
	const struct output_how how = { .inputs = inputs };
	struct beforeafter b = { .protect = o->protect };
	struct context *cx = &tool->cx;
	static const char *const names[] = { "Before", "After" };
	struct segmap *maps[2] = { NULL, NULL };
	int ret, err;

	if (!o->svg)
		return jobs_run(tool, o, dev);
	ret = outfile_open(&b.file, cx, o->svg, &how);
	if (ret)
		return ret;
	ret = draw_segment_map(&b, cx, dev, &maps[0]);
	if (!ret)
		ret = jobs_run(tool, o, dev);
	if (ret >= 0) {
		err = draw_segment_map(&b, cx, dev, &maps[1]);
		ret = err ? err : ret;
	}
	if (ret >= 0) {
		err = segmap_document(cx, b.file.out, &b.volume, maps, names, 2);
		ret = err ? err : ret;
	}
	free(maps[0]);
	free(maps[1]);
	return outfile_close(&b.file, cx, ret);
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
	struct dev *dev = NULL;
	int ret = live_open(&live, cx, tool->argv[0]);

	if (!ret && live->read_only && !o->dry_run)
		ret = fail_said(cx, -EROFS, "%s: mounted read-only; mount it for "
				"writing, or unmount it and give the device %s",
				live->dir, live->device);
	if (!ret)
		ret = cleanerlock_take(&lock, cx, live, CLEANER_WAIT);
	if (!ret)
		ret = devfile_open(&dev, cx, live->device, DEVFILE_READ);
	if (!ret) {
		o->live = live;
		ret = run_jobs(tool, o, dev);
	}
	dev_close(dev);
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
	if (!ret && !o.no_check)
		ret = checkpointjob_precheck(tool, &o, t.dev);
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
	  "shrink grow punch purge" },
	{ "Checkpoints and snapshots",
	  "delete-checkpoints force keep-snapshots take-snapshot "
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
