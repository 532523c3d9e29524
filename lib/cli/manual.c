// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What --help, --version and --list-options print.
 *
 * Everything comes from the rows of options and commands, so that what is
 * parsed and what is printed cannot differ; the order is synopsis, purpose,
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

static void put_words(struct out *out, const struct cli_option *row)
{
	const char *word;
	size_t i;

	for (i = 0; row->choices && row->choices[i]; i++)
		out_printf(out, "%s ", row->choices[i]);
	for (i = 0; row->word && (word = row->word(i)); i++)
		out_printf(out, "%s ", word);
}

static void put_rows(struct out *out, const struct cli_option *row)
{
	for (; row && (row->letter || row->name); row++) {
		char letter[3] = { '-', (char)row->letter, '\0' };

		if (!row->help)
			continue;
		out_printf(out, "option\t%s\t%s%s\t%s\t",
			   row->letter ? letter : "", row->name ? "--" : "",
			   row->name ? row->name : "",
			   row->arg ? row->arg : "");
		put_words(out, row);
		out_printf(out, "\t%s\n", row->help);
	}
}

void manual_rows(struct out *out, const struct cli_tool *cli,
		 const struct cli_command *command)
{
	const struct cli_command *const *c;

	for (c = command ? NULL : cli->commands; c && *c; c++)
		out_printf(out, "command\t%s\t%s\n", (*c)->name,
			   (*c)->summary);
	if (command)
		put_rows(out, command->options);
	put_rows(out, tool_options);
	out_printf(out, "arguments\t%s\n",
		   command ? command->synopsis : "");
}
