// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc.nilfs2: open, clean, tell.
 */
#include <errno.h>
#include <inttypes.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/overlay.h"
#include "gc/clean.h"
#include "gc/options.h"
#include "gc/target.h"
#include "vol/volume.h"

#define STATUS_LEFT 3	/* some segments were left alone */

static void tell_left(void *arg, uint64_t segnum, const char *why)
{
	tool_warn(arg, "segment %" PRIu64 ": left alone: %s", segnum, why);
}

/* What the amounts mean on this volume. */
static int find_goal(struct context *cx, struct dev *dev,
		     const struct options *o, uint64_t *goal)
{
	const struct nilfs_geometry *g;
	struct volume *vol;
	int ret = volume_open_bare(&vol, cx, dev);

	if (ret)
		return ret;
	g = &vol->geo;
	*goal = options_segments(&o->free, (uint64_t)g->blocks_per_segment <<
				 g->block_bits, g->nsegments);
	volume_close(vol);
	return 0;
}

static void report(struct tool *tool, const struct clean *c)
{
	const struct batch_totals *t = &c->totals;
	struct report *r = &tool->report;

	report_begin(r, "result", NULL);
	report_u64(r, "clean_before", "Clean segments before",
		   c->clean_before);
	report_u64(r, "clean_after", "Clean segments now", t->clean);
	report_u64(r, "segments_cleaned", "Segments cleaned", t->victims);
	report_u64(r, "segments_left", "Segments left alone", c->left);
	report_u64(r, "blocks_moved", "Blocks moved", t->moved);
	report_u64(r, "blocks_written", "Blocks written", t->written);
	report_u64(r, "blocks_forgotten", "Dead blocks", t->forgotten);
	report_u64(r, "checkpoints_deleted", "Checkpoints deleted",
		   t->checkpoints);
	report_u64(r, "batches", "Batches", t->batches);
	report_end(r);
}

static int clean(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct clean_options options = {
		.policy = o->policy,
		.max_search = o->max_search,
		.min_dead = o->min_reclaimable,
		.protect = o->protect,
		.batch.time = (uint64_t)tool->cx.now,
		.batch.forecast = o->dry_run,
		.left = tell_left,
		.arg = tool,
	};
	struct clean c;
	int ret = find_goal(&tool->cx, dev, o, &options.goal);

	if (!ret)
		ret = clean_run(&c, &tool->cx, dev, &options);
	if (ret)
		return ret;
	report(tool, &c);
	return c.left ? STATUS_LEFT : 0;
}

/* Does all of it, on an overlay that is dropped. */
static int forecast(struct tool *tool, const struct options *o,
		    struct dev *dev)
{
	struct dev *overlay;
	int ret = overlay_open(&overlay, &tool->cx, dev);

	if (!ret)
		ret = clean(tool, o, overlay);
	dev_close(overlay);
	return ret;
}

static int run(struct tool *tool, const void *options)
{
	const struct options *o = options;
	struct dev *dev;
	int ret = target_open(&dev, &tool->cx, tool->argv[0], o->dry_run);

	if (!ret)
		ret = o->dry_run ? forecast(tool, o, dev) :
				   clean(tool, o, dev);
	dev_close(dev);
	return ret;
}

static const struct cli_command command = {
	.summary = "collect the garbage of an NILFS2 volume",
	.synopsis = "DEVICE",
	.options = options_rows,
	.options_size = sizeof(struct options),
	.defaults = &options_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

static const struct cli_tool gc = {
	.name = "gc.nilfs2",
	.summary = "Collect the garbage of an unmounted NILFS2 volume.",
	.only = &command,
	.exit_failure = 1,
	.exit_usage = 2,
};

int main(int argc, char **argv)
{
	return tool_main(&gc, argc, argv);
}
