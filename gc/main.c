// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc.nilfs2: opens the device, and runs the requested jobs.
 */
#include <stddef.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/overlay.h"
#include "gc/beforeafter.h"
#include "gc/jobs.h"
#include "gc/move/sums.h"
#include "gc/move/target.h"
#include "gc/options.h"
#include "gc/precheck.h"

/* With a picture of the result, if requested. */
static int run_jobs(struct tool *tool, const struct options *o,
		    struct dev *dev)
{
	struct beforeafter b;
	int ret;

	if (!o->svg)
		return jobs_run(tool, o, dev);
	ret = beforeafter_begin(&b, &tool->cx, o->svg, tool->argv[0], dev,
				o->protect);
	if (ret)
		return ret;
	return beforeafter_end(&b, &tool->cx, dev, jobs_run(tool, o, dev));
}

/* Does all of it, on an overlay that is dropped. */
static int forecast_jobs(struct tool *tool, const struct options *o,
			 struct dev *dev)
{
	struct dev *overlay;
	int ret = overlay_open(&overlay, &tool->cx, dev);

	if (!ret)
		ret = run_jobs(tool, o, overlay);
	dev_close(overlay);
	return ret;
}

static int check_combination(struct tool *tool, const struct options *o)
{
	struct context cx;

	context_child(&tool->cx, &cx);
	return jobs_check(&cx, o) ? tool_usage(tool, "%s", cx.failure) : 0;
}

static int run_gc(struct tool *tool, const void *options)
{
	struct options o = *(const struct options *)options;
	struct sums sums = { .dev = NULL };
	struct target t;
	int ret;

	ret = check_combination(tool, &o);
	if (ret)
		return ret;
	o.dry_run |= o.compare;
	ret = target_open(&t, &tool->cx, tool->argv[0],
			  o.dry_run || o.output);
	sums.dev = t.dev;
	o.sums = &sums;
	if (!ret && !o.no_check)
		ret = precheck_run(tool, t.dev,
				   "the volume has errors; run fsck.nilfs2");
	if (!ret)
		ret = o.dry_run ? forecast_jobs(tool, &o, t.dev) :
				  run_jobs(tool, &o, t.dev);
	sums_fini(&sums);
	target_close(&t);
	return ret;
}

static const struct cli_command command = {
	.summary = "collect the garbage of a NILFS2 volume",
	.synopsis = "DEVICE",
	.options = options_rows,
	.options_size = sizeof(struct options),
	.defaults = &options_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = run_gc,
};

static const struct cli_tool gc = {
	.name = "gc.nilfs2",
	.summary = "Collect the garbage of an unmounted NILFS2 volume.",
	.only = &command,
	.exit_failure = 1,
	.exit_usage = 2,
	/* The larger a batch, the fewer times its metadata is written. */
	.max_memory = 128u << 20,
};

int main(int argc, char **argv)
{
	return tool_main(&gc, argc, argv);
}
