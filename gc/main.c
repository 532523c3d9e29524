// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc.nilfs2: opens the device, and does to it what is wanted, job by job.
 */
#include <stddef.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/overlay.h"
#include "gc/beforeafter.h"
#include "gc/cleanjob.h"
#include "gc/compactjob.h"
#include "gc/comparejob.h"
#include "gc/defragjob.h"
#include "gc/deletejob.h"
#include "gc/featurejob.h"
#include "gc/growjob.h"
#include "gc/job.h"
#include "gc/options.h"
#include "gc/outputjob.h"
#include "gc/precheck.h"
#include "gc/punchjob.h"
#include "gc/purgejob.h"
#include "gc/shrinkjob.h"
#include "gc/sums.h"
#include "gc/target.h"
#include "gc/jobcompat.h"

/* In this order. */
static const struct job *const jobs[] = {
	&featurejob,
	&deletejob,
	&comparejob,
	&cleanjob,
	&compactjob,
	&outputjob,
	&shrinkjob,
	&growjob,
	&defragjob,
	&purgejob,
	&punchjob,
};

static int do_jobs(struct tool *tool, const struct options *o, struct dev *dev)
{
	size_t i;
	int ret, status = 0;

	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		if (!jobs[i]->is_wanted(o))
			continue;
		ret = jobs[i]->run(tool, o, dev);
		if (ret < 0)
			return ret;
		if (ret && status != JOB_UNDONE)
			status = ret;
	}
	return status;
}

/* With a picture of the outcome, where one is wanted. */
static int do_and_draw(struct tool *tool, const struct options *o,
		       struct dev *dev)
{
	struct beforeafter b;
	int ret;

	if (!o->svg)
		return do_jobs(tool, o, dev);
	ret = beforeafter_begin(&b, &tool->cx, o->svg, tool->argv[0], dev,
				o->protect);
	if (ret)
		return ret;
	return beforeafter_end(&b, &tool->cx, dev, do_jobs(tool, o, dev));
}

/* Does all of it, on an overlay that is dropped. */
static int forecast(struct tool *tool, const struct options *o,
		    struct dev *dev)
{
	struct dev *overlay;
	int ret = overlay_open(&overlay, &tool->cx, dev);

	if (!ret)
		ret = do_and_draw(tool, o, overlay);
	dev_close(overlay);
	return ret;
}

static int check_options(struct tool *tool, const struct options *o)
{
	struct context cx;

	context_child(&tool->cx, &cx);
	return jobcompat_check(&cx, o) ? tool_usage(tool, "%s", cx.failure) : 0;
}

static int run(struct tool *tool, const void *options)
{
	struct options o = *(const struct options *)options;
	struct sums sums = { .dev = NULL };
	struct target t;
	int ret;

	ret = check_options(tool, &o);
	if (ret)
		return ret;
	o.dry_run |= o.compare;
	ret = target_open(&t, &tool->cx, tool->argv[0],
			  o.dry_run || o.output);
	sums.dev = t.dev;
	o.sums = &sums;
	if (!ret && !o.no_check)
		ret = precheck_run(tool, t.dev);
	if (!ret)
		ret = o.dry_run ? forecast(tool, &o, t.dev) :
				  do_and_draw(tool, &o, t.dev);
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
	.run = run,
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
