// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of shrinking and growing.
 */
#include <errno.h>
#include <inttypes.h>

#include "check/beyond.h"
#include "dev/overlay.h"
#include "disk/super.h"
#include "gc/job.h"
#include "gc/live/resize.h"
#include "gc/moving.h"
#include "gc/resize/grow.h"
#include "gc/resize/shrink.h"
#include "log/newsupers.h"
#include "vol/volume.h"

static void put_sizes(struct report *r, uint64_t bytes_before, uint64_t bytes,
		      uint64_t segments_before, uint64_t segments)
{
	report_size(r, "bytes_before", "Size before", bytes_before);
	report_size(r, "bytes", "Size after", bytes);
	report_u64(r, "segments_before", "Segments before", segments_before);
	report_u64(r, "segments", "Segments after", segments);
}

int resizejob_extend(struct tool *tool, const struct options *o, struct dev *dev,
		     uint64_t *former)
{
	const char *name = tool->argv[0];
	char text[BEYOND_TEXT_MAX];
	struct volume *vol;
	struct beyond b;
	int ret = beyond_find(&b, &tool->cx, dev);

	*former = 0;
	if (ret <= 0)
		return ret;
	beyond_text(&b, text);
	tool_note(tool, "%s: the device has %" PRIu64 " bytes, its volume %" PRIu64
		  ": %s", name, b.device, b.volume, text);
	if (!o->shrink.wanted || o->dry_run || !beyond_is_nothing(&b))
		return 0;
	ret = dev_resize(dev, &tool->cx, b.volume);
	if (ret)
		return ret == -EOPNOTSUPP ? 0 : ret;
	*former = b.device;
	/* The second superblock was cut off, too. */
	ret = volume_open_bare(&vol, &tool->cx, dev);
	if (!ret)
		ret = newsupers_write_copy(&tool->cx, dev, volume_super(vol),
					   super_offset2(b.volume));
	volume_close(vol);
	return ret;
}

/* Whether the volume can be that small is known only after the earlier jobs. */
int resizejob_check_shrink(struct tool *tool, const struct options *o,
			   struct dev *dev)
{
	struct context *cx = &tool->cx;
	struct volume *vol;
	uint64_t bytes;
	int ret;

	if (o->live && !o->shrink.bytes)
		return fail_said(cx, -EINVAL, "%s: --shrink: give a size; the "
				 "smallest one of a mounted volume changes while it "
				 "is written", tool->argv[0]);
	if (o->live && dev->zones)
		return fail(cx, -EOPNOTSUPP, "%s: has zones; its size cannot change",
			    dev->name);
	ret = volume_open_bare(&vol, cx, dev);
	bytes = ret ? 0 : le64_get(volume_super(vol)->s_dev_size);
	volume_close(vol);
	if (!ret && o->shrink.bytes > bytes)
		ret = fail(cx, -EINVAL, "%" PRIu64 " bytes are more than the %"
			   PRIu64 " that the volume has", o->shrink.bytes,
			   bytes);
	return ret;
}

/* The same with a mounted volume, by the kernel. */
static int shrink_mounted(struct tool *tool, const struct options *o,
			  struct dev *dev)
{
	struct online_options how = moving_online_options(o);
	struct report *r = &tool->report;
	uint64_t began = tool_clock();
	struct collector_options warn;
	struct resize_online s;
	struct moving moving;
	int ret;

	moving_begin(&moving, tool, &warn);
	how.left = warn.left;
	how.moving = warn.moving;
	how.deleting = warn.deleting;
	how.arg = &moving;
	ret = resize_online(&s, &tool->cx, o->live, dev, tool_clock,
			    o->shrink.bytes, &how);
	progress_end(&tool->progress);
	if (ret)
		return ret;
	report_begin(r, "shrink", NULL);
	put_sizes(r, s.bytes_before, s.bytes, s.segments_before, s.segments);
	report_u64(r, "segments_cleaned", "Segments cleaned", s.totals.victims);
	report_u64(r, "blocks_moved", "Blocks moved", s.totals.moved);
	report_u64(r, "blocks_forgotten", "Virtual blocks freed", s.totals.freed);
	report_u64(r, "calls", "Calls of the kernel", s.totals.calls);
	report_u64(r, "longest_ms", "Longest call in milliseconds",
		   s.totals.longest);
	report_u64(r, "elapsed_ms", "Time in milliseconds", tool_clock() - began);
	report_end(r);
	return 0;
}

int resizejob_shrink(struct tool *tool, const struct options *o,
		     struct dev *dev)
{
	struct shrink_options options = {
		.bytes = o->shrink.bytes,
		.clean = moving_clean_options(tool, o),
	};
	struct report *r = &tool->report;
	uint64_t began = tool_clock();
	struct moving moving;
	struct shrink s;
	int ret;

	if (o->live)
		return shrink_mounted(tool, o, dev);
	moving_begin(&moving, tool, &options.clean.how);
	ret = shrink_run(&s, &tool->cx, dev, &options);
	progress_end(&tool->progress);
	if (ret)
		return ret;
	report_begin(r, "shrink", NULL);
	put_sizes(r, s.bytes_before, s.bytes, s.segments_before, s.segments);
	report_u64(r, "segments_cleaned", "Segments cleaned",
		   s.totals.victims);
	moving_put(r, &s.totals, began);
	report_end(r);
	if (s.left || !s.failed_reads)
		return s.left ? JOB_LEFT : 0;
	tool_warn(tool, "%s: reads that failed: %" PRIu64 "; the volume may be "
		  "larger than the smallest size", tool->argv[0],
		  s.failed_reads);
	return JOB_UNDONE;
}

int resizejob_check_grow(struct tool *tool, const struct options *o,
			 struct dev *dev)
{
	const struct grow_options options = {
		.bytes = o->grow.bytes,
		.time = (uint64_t)tool->cx.now,
		.live = o->live,
		.forecast = true,
	};
	struct dev *overlay;
	struct grow g;
	int ret = overlay_open(&overlay, &tool->cx, dev, true);

	if (!ret)
		ret = grow_run(&g, &tool->cx, overlay, &options);
	dev_close(overlay);
	return ret;
}

int resizejob_grow(struct tool *tool, const struct options *o, struct dev *dev)
{
	const struct grow_options options = {
		.bytes = o->grow.bytes,
		.time = (uint64_t)tool->cx.now,
		.live = o->live,
		.forecast = o->dry_run,
	};
	struct report *r = &tool->report;
	uint64_t began = tool_clock();
	struct grow g;
	int ret = grow_run(&g, &tool->cx, dev, &options);

	if (ret)
		return ret;
	report_begin(r, "grow", NULL);
	put_sizes(r, g.bytes_before, g.bytes, g.segments_before, g.segments);
	if (!o->live)
		moving_put(r, &g.totals, began);
	report_end(r);
	return 0;
}
