// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of compaction, and of writing a compact copy.
 *
 * An existing file is replaced by a copy only with --force, and an incomplete
 * copy is removed.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/devfile.h"
#include "dev/overlay.h"
#include "gc/compact/compact.h"
#include "gc/compact/copy.h"
#include "gc/job.h"
#include "gc/moving.h"

static enum order_kind order_of(const struct options *o)
{
	return o->order < 0 ? ORDER_DEFAULT : (enum order_kind)o->order;
}

/* As section NAME of a job that BEGAN; LEFT segments were skipped. */
static void report_compact(struct tool *tool, const char *name,
			   const struct usedend *before,
			   const struct usedend *after, uint64_t left,
			   const struct batch_totals *totals, uint64_t began)
{
	struct report *r = &tool->report;

	report_begin(r, name, NULL);
	report_u64(r, "end_before", "Segments up to the last one before",
		   before->end);
	report_u64(r, "end_after", "Segments up to the last one now",
		   after->end);
	report_u64(r, "clean_before", "Clean segments before",
		   before->clean);
	report_u64(r, "clean_after", "Clean segments now", after->clean);
	report_u64(r, "segments_left", "Segments skipped", left);
	moving_put(r, totals, began);
	report_end(r);
}

int compactjob_compact(struct tool *tool, const struct options *o,
		       struct dev *dev)
{
	/* Blocks as they come are in no order that they could lack. */
	struct compact_options options = {
		.all = o->compact == OPTIONS_COMPACT_ALL ||
		       (o->order >= 0 && o->order != ORDER_VICTIM),
		.order = order_of(o),
		.how = moving_options(tool, o),
	};
	uint64_t began = tool_clock();
	struct moving moving;
	struct compact c;
	int ret;

	moving_begin(&moving, tool, &options.how);
	ret = compact_run(&c, &tool->cx, dev, &options);
	moving_end(&moving);
	if (ret)
		return ret;
	report_compact(tool, "compaction", &c.before, &c.after, c.left,
		       &c.totals, began);
	return c.left ? JOB_LEFT : 0;
}

/* Takes what is at PATH away, unless it is not a file, or SOURCE. */
static int remove_existing(struct tool *tool, const char *path)
{
	struct context *cx = &tool->cx;
	struct stat there, source;

	if (lstat(path, &there))
		return 0;
	if (!S_ISREG(there.st_mode))
		return fail(cx, -EEXIST, "%s: exists and is not a file", path);
	if (stat(tool->argv[0], &source))
		return fail(cx, -errno, "%s", tool->argv[0]);
	if (there.st_dev == source.st_dev && there.st_ino == source.st_ino)
		return fail(cx, -EINVAL, "%s: is the volume itself", path);
	if (unlink(path))
		return fail(cx, -errno, "%s", path);
	return 0;
}

/* A file of SIZE bytes without content. */
static int make_file(struct dev **devp, struct tool *tool,
		     const struct options *o, uint64_t size)
{
	int ret = o->force ? remove_existing(tool, o->output) : 0;

	*devp = NULL;
	if (!ret)
		ret = devfile_open(devp, &tool->cx, o->output, DEVFILE_WRITE |
				   DEVFILE_CREATE | DEVFILE_NEW);
	if (ret)
		return ret;
	ret = devfile_resize(*devp, &tool->cx, size);
	devfile_direct(*devp);
	return ret;
}

static int copy_to(struct tool *tool, const struct options *o,
		   struct dev *source, struct dev *target)
{
	struct collector_options how = moving_options(tool, o);
	uint64_t began = tool_clock();
	struct moving moving;
	struct order order;
	struct copy c;
	int ret = order_find(&order, &tool->cx, source, order_of(o));

	how.order = &order;
	moving_begin(&moving, tool, &how);
	if (!ret)
		ret = copy_run(&c, &tool->cx, source, target, &how);
	moving_end(&moving);
	order_close(&order);
	if (!ret)
		report_compact(tool, "copy", &c.before, &c.after, 0,
			       &c.totals, began);
	return ret;
}

int compactjob_copy(struct tool *tool, const struct options *o,
		    struct dev *dev)
{
	struct dev *target;
	int ret = o->dry_run ? overlay_open(&target, &tool->cx, dev) :
			       make_file(&target, tool, o, dev->size);

	if (!ret)
		ret = copy_to(tool, o, dev, target);
	if (ret && target && !o->dry_run)
		unlink(o->output);
	dev_close(target);
	return ret;
}
