// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of writing a compact copy.
 *
 * A file that is there is replaced only where that is wanted, and never by a
 * copy that is not complete: it is made under its name, but a failure takes it
 * away again.
 */
#include "gc/outputjob.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/devfile.h"
#include "dev/overlay.h"
#include "gc/compactreport.h"
#include "gc/copy.h"
#include "gc/watch.h"

/* Takes what is at PATH away, unless it is not a file, or SOURCE. */
static int make_room(struct tool *tool, const char *path)
{
	struct context *cx = &tool->cx;
	struct stat there, source;

	if (lstat(path, &there))
		return 0;
	if (!S_ISREG(there.st_mode))
		return fail(cx, -EEXIST, "%s: exists and is no file", path);
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
	int ret = o->force ? make_room(tool, o->output) : 0;

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

static int copy(struct tool *tool, const struct options *o, struct dev *source,
		struct dev *target)
{
	struct collector_options how = {
		.protect = o->protect,
		.batch.time = (uint64_t)tool->cx.now,
		.batch.sums = o->sums,
		.batch.forecast = o->dry_run,
	};
	uint64_t began = tool_clock();
	struct order order;
	struct watch watch;
	struct copy c;
	int ret = order_find(&order, &tool->cx, source,
			     o->order < 0 ? ORDER_DEFAULT :
					    (enum order_kind)o->order);

	how.order = &order;
	watch_begin(&watch, tool, &how);
	if (!ret)
		ret = copy_run(&c, &tool->cx, source, target, &how);
	watch_end(&watch);
	order_close(&order);
	if (!ret)
		compactreport_put(tool, "copy", &c.before, &c.after, 0,
				  &c.totals, began);
	return ret;
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct dev *target;
	int ret = o->dry_run ? overlay_open(&target, &tool->cx, dev) :
			       make_file(&target, tool, o, dev->size);

	if (!ret)
		ret = copy(tool, o, dev, target);
	if (ret && target && !o->dry_run)
		unlink(o->output);
	dev_close(target);
	return ret;
}

static bool is_wanted(const struct options *o)
{
	return o->output;
}

const struct job outputjob = {
	.is_wanted = is_wanted,
	.run = run,
};
