// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs.nilfs2: look, plan, refuse or write, report.
 *
 * Everything that can be refused is refused before the first change.
 */
#include <unistd.h>

#include "cli/tool.h"
#include "dev/devfile.h"
#include "mkfs/announce.h"
#include "mkfs/badblocks.h"
#include "mkfs/format.h"
#include "mkfs/options.h"
#include "mkfs/target.h"

static int make_plan(struct context *cx, const struct mkfs_options *o,
		     const struct target *t, struct plan *plan)
{
	struct plan_facts facts = {
		.name = t->path,
		.size = t->size,
		.sector_size = t->sector_size,
		.now = cx->now,
		.zones = t->zones,
	};
	int ret = options_uuid(cx, o, facts.uuid);

	return ret ? ret : plan_make(cx, o, &facts, plan);
}

static void warn(struct tool *tool, const struct plan *plan)
{
	long page_size = sysconf(_SC_PAGESIZE);

	if (plan->g.block_size > page_size)
		tool_warn(tool, "blocks of %u bytes cannot be mounted here, "
			  "where memory pages have %ld", plan->g.block_size,
			  page_size);
}

static int write_test(void *arg, struct context *cx, struct dev *dev)
{
	return badblocks_write(arg, cx, dev);
}

static int format(struct tool *tool, const struct mkfs_options *o,
		  struct target *t, const struct plan *plan)
{
	struct badblocks b = { .progress = &tool->progress };
	struct format_how how = { .discard = !o->keep, .arg = &b };
	int ret = target_prepare(&tool->cx, t);

	if (ret)
		return ret;
	b.fd = devfile_fd(t->file);
	how.blank = t->blank;
	if (o->check > 1)
		how.test = write_test;
	return format_run(&tool->cx, t->dev, plan, &how);
}

static int look_and_format(struct tool *tool, const struct mkfs_options *o,
			   struct target *t)
{
	struct badblocks b = { .progress = &tool->progress, .fd = -1 };
	struct plan plan;
	int ret = make_plan(&tool->cx, o, t, &plan);

	if (!ret && !o->force)
		ret = target_check_empty(&tool->cx, t);
	if (!ret && o->check == 1 && t->dev)
		ret = badblocks_read(&b, &tool->cx, t->dev);
	if (ret)
		return ret;
	warn(tool, &plan);
	if (!o->dry_run)
		ret = format(tool, o, t, &plan);
	if (!ret && (!tool->quiet || !report_is_text(&tool->report)))
		announce_plan(&tool->report, t->path, &plan, !o->dry_run);
	return ret;
}

static int run(struct tool *tool, const void *options)
{
	const struct mkfs_options *o = options;
	struct target t;
	int ret = target_open(&tool->cx, tool->argv[0], o, &t);

	if (!ret)
		ret = look_and_format(tool, o, &t);
	target_close(&t, ret);
	return ret;
}

static const struct cli_command command = {
	.summary = "make an empty NILFS2 volume",
	.synopsis = "DEVICE",
	.options = options_rows,
	.options_size = sizeof(struct mkfs_options),
	.defaults = &options_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

static const struct cli_tool mkfs = {
	.name = "mkfs.nilfs2",
	.summary = "Make an empty NILFS2 volume on a device or image file.",
	.only = &command,
	.exit_failure = 1,
	.exit_usage = 1,
};

int main(int argc, char **argv)
{
	return tool_main(&mkfs, argc, argv);
}
