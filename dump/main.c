// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2: the list of its commands.
 *
 * Each command is a file of its own that ends in a constant row; a new one is
 * declared in "dump/common/commands.h" and gets its line here.
 */
#include "dump/common/commands.h"

static const struct cli_command *const commands[] = {
	&info_command,
	&report_command,
	&segments_command,
	&map_command,
	&checkpoints_command,
	&logs_command,
	&inode_command,
	&bmap_command,
	&dat_command,
	&block_command,
	&ls_command,
	&cat_command,
	&export_command,
	&mount_command,
	&diff_command,
	&du_command,
	&find_command,
	&history_command,
	&metaimage_command,
	&shell_command,
	&set_command,
	NULL,
};

static const struct cli_tool dump = {
	.name = "dump.nilfs2",
	.summary = "Show what is on a NILFS2 volume, without mounting it.",
	.commands = commands,
	.exit_failure = 1,
	.exit_usage = 2,
	.only_reads = true,
};

int main(int argc, char **argv)
{
	return tool_main(&dump, argc, argv);
}
