/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What --help and --version say of a tool or one of its commands. */
#ifndef NILFS2_CLI_MANUAL_H
#define NILFS2_CLI_MANUAL_H

#include "cli/tool.h"
#include "out/out.h"

/* The whole tool: its commands, or the options of its only one. */
/*
 * The rows of COMMAND (NULL: of the tool) for completion in a shell: fields
 * end with a tab, rows with a newline.
 *
 *	command NAME SUMMARY		one of each, of a tool with commands
 *	option LETTER NAME ARGUMENT WORDS HELP
 *	arguments SYNOPSIS
 *
 * LETTER and NAME include their dashes; WORDS are separated by blanks.
 */
void manual_rows(struct out *out, const struct cli_tool *cli,
		 const struct cli_command *command);

void manual_tool(struct out *out, const struct cli_tool *cli);

void manual_command(struct out *out, const struct cli_tool *cli,
		    const struct cli_command *command);

void manual_version(struct out *out, const struct cli_tool *cli);

#endif
