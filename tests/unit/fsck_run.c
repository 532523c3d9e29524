// SPDX-License-Identifier: GPL-2.0-or-later
/* The checker on a device of a test, which was written before. */
#include "fsck_run.h"

#include "log_volume.h"

int fsck_run(const struct context *cx, struct dev *dev,
	     const struct options *o)
{
	char *argv[] = { (char[]){ "image" }, NULL };
	struct tool tool = { .argc = 1, .argv = argv, .quiet = true };
	int ret;

	context_child(cx, &tool.cx);
	tool.cx.now = LOG_VOLUME_TIME + 2;
	out_open_memory(&tool.cx, &tool.out);
	report_init(&tool.report, tool.out, REPORT_TEXT);
	progress_init(&tool.progress, -1, true);
	ret = session_run(&tool, o, dev);
	out_close(tool.out, &tool.cx);
	return ret;
}
