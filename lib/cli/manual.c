// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What --help and --version say.
 *
 * Everything comes from the rows of options and commands, so that what is
 * parsed and what is told cannot differ; the order is synopsis, purpose,
 * commands, own options, options of every tool.
 */
#include "config.h"

#include "cli/manual.h"

#include "cli/help.h"

void manual_version(struct out *out, const struct cli_tool *cli)
{
	out_printf(out, "%s (%s) %s\n", cli->name, PACKAGE_NAME,
		   PACKAGE_VERSION);
}

static void put_options(struct out *out, const struct cli_command *command)
{
	out_string(out, "\nOptions:\n");
	if (command)
		help_options(out, command->options);
	help_options(out, tool_options);
}

void manual_command(struct out *out, const struct cli_tool *cli,
		    const struct cli_command *command)
{
	out_printf(out, "Usage: %s%s%s [OPTIONS] %s\n\n", cli->name,
		   command->name ? " " : "",
		   command->name ? command->name : "", command->synopsis);
	help_paragraphs(out, command->summary, 0);
	if (command->about) {
		out_char(out, '\n');
		help_paragraphs(out, command->about, 0);
	}
	put_options(out, command);
}

void manual_tool(struct out *out, const struct cli_tool *cli)
{
	const struct cli_command *const *c;

	if (cli->only) {
		manual_command(out, cli, cli->only);
		return;
	}
	out_printf(out, "Usage: %s COMMAND [OPTIONS] IMAGE [ARGUMENTS]\n\n",
		   cli->name);
	help_paragraphs(out, cli->summary, 0);
	out_string(out, "\nCommands:\n");
	for (c = cli->commands; *c; c++)
		help_line(out, (*c)->name, (*c)->summary);
	help_line(out, "help COMMAND", "print the options of a command");
	put_options(out, NULL);
}
