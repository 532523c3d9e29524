// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsck.nilfs2: open, check, mend, tell.
 */
#include "cli/tool.h"
#include "dev/dev.h"
#include "find/tell.h"
#include "fsck/options.h"
#include "fsck/session.h"
#include "fsck/target.h"

#define EXIT_OPERATIONAL 8	/* of fsck(8) */
#define EXIT_USAGE 16
#define EXIT_CANCELED 32

static int run(struct tool *tool, const void *options)
{
	const struct options *o = options;
	struct dev *dev;
	int err;

	if (o->list_rules) {
		tell_rules(&tool->report);
		return 0;
	}
	if (!tool->argc)
		return tool_usage(tool, "too few arguments: DEVICE expected");
	err = target_open(&dev, tool, tool->argv[0], o);
	if (!err)
		err = session_run(tool, o, dev);
	dev_close(dev);
	return err;
}

static const struct cli_command command = {
	.summary = "check and repair an NILFS2 volume",
	.synopsis = "DEVICE",
	.options = options_rows,
	.options_size = sizeof(struct options),
	.max_args = 1,
	.run = run,
};

static const struct cli_tool fsck = {
	.name = "fsck.nilfs2",
	.summary = "Check and repair an NILFS2 volume on a device or image file.",
	.only = &command,
	.exit_failure = EXIT_OPERATIONAL,
	.exit_usage = EXIT_USAGE,
	.exit_cancelled = EXIT_CANCELED,
	.only_reads = true,
};

int main(int argc, char **argv)
{
	return tool_main(&fsck, argc, argv);
}
