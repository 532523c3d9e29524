/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of --help and --list-options, from the rows of options and commands. */
#ifndef NILFS2_CLI_HELP_H
#define NILFS2_CLI_HELP_H

#include "cli/tool.h"

/*
 * Puts a line per option, "  -c, --checkpoint CNO   text", wrapped at 80 columns:
 * those of ROWS (NULL: none) under HEADINGS (NULL: one, "Options"), and the options
 * of every tool under the last heading.
 */
void help_options(struct out *out, const struct cli_option *rows,
		  const struct cli_heading *headings);

/*
 * Puts synopsis, purpose and options of COMMAND.  NULL: of the tool, which has
 * either only one command or a list of them.
 */
void help_command(struct out *out, const struct cli_tool *cli,
		  const struct cli_command *command);

/*
 * Puts the rows of COMMAND (NULL: of the tool) for completion in a shell: fields end
 * with a tab, rows with a newline.
 *
 *	command NAME SUMMARY		one for each command of a tool
 *	option LETTER NAME ARGUMENT WORDS HELP
 *	arguments SYNOPSIS
 *
 * LETTER and NAME include their dashes; WORDS are separated by blanks.
 */
void help_rows(struct out *out, const struct cli_tool *cli,
	       const struct cli_command *command);

#endif
