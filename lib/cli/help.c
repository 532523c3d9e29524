// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Help texts.
 *
 * All help is generated from the rows of options and commands, so that parsing and help
 * cannot differ.  Long lines are wrapped here, so a row contains only a phrase.
 */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 80
#define TEXT_COLUMN 30

/* Puts "  TERM   TEXT", wrapped at blanks. */
static void put_line(struct out *out, const char *term, const char *text)
{
	size_t used = strlen(term) + 2, room = LINE_WIDTH - TEXT_COLUMN, n;

	out_printf(out, "  %s", term);
	if (used > TEXT_COLUMN - 2) {
		out_char(out, '\n');
		used = 0;
	}
	do {
		n = strlen(text);
		if (n > room) {
			for (n = room; n && text[n] != ' '; n--)
				;
			n = n ? n : strcspn(text, " ");
		}
		out_repeat(out, ' ', TEXT_COLUMN - used);
		out_bytes(out, text, n);
		out_char(out, '\n');
		text += n;
		text += strspn(text, " ");
		used = 0;
	} while (*text);
}

static void put_option(struct out *out, const struct cli_option *row)
{
	char letter[4] = "   ", term[128];

	if (!row->help)
		return;
	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c%s", row->letter,
			 row->name ? "," : "");
	snprintf(term, sizeof(term), "%s%s%s%s%s", letter,
		 row->name ? " --" : "", row->name ? row->name : "",
		 row->arg && row->arg[0] != '[' ? " " : "",
		 row->arg ? row->arg : "");
	put_line(out, term, row->help);
}

void help_options(struct out *out, const struct cli_option *rows,
		  const struct cli_heading *headings)
{
	static const struct cli_heading one[] = { { "Options", "" }, { NULL } };
	const struct cli_heading *h = headings ? headings : one;
	const struct cli_option *row;
	bool put[OPTION_MAX] = { false };
	const char *word;
	size_t len;

	for (; h->title; h++) {
		out_printf(out, "\n%s:\n", h->title);
		for (word = h->names; *word; word += strspn(word, " ")) {
			len = strcspn(word, " ");
			for (row = rows; row->letter || row->name; row++) {
				if (row->name ? strlen(row->name) != len ||
						memcmp(row->name, word, len) :
				    len != 1 || row->letter != *word)
					continue;
				put_option(out, row);
				put[row - rows] = true;
			}
			word += len;
		}
		if (h[1].title)
			continue;
		for (row = rows; row && (row->letter || row->name); row++)
			if (!put[row - rows])
				put_option(out, row);
		for (row = tool_options; row->name; row++)
			put_option(out, row);
	}
}

void help_command(struct out *out, const struct cli_tool *cli,
		  const struct cli_command *command)
{
	const struct cli_command *const *c;

	command = command ? command : cli->only;
	if (command) {
		out_printf(out, "Usage: %s%s%s [OPTIONS] %s\n\n%s\n", cli->name,
			   command->name ? " " : "",
			   command->name ? command->name : "",
			   command->synopsis, command->summary);
		if (command->about)
			out_printf(out, "\n%s\n", command->about);
		help_options(out, command->options, command->headings);
		return;
	}
	out_printf(out, "Usage: %s COMMAND [OPTIONS] IMAGE [ARGUMENTS]\n\n"
		   "%s\n\nCommands:\n", cli->name, cli->summary);
	for (c = cli->commands; *c; c++)
		put_line(out, (*c)->name, (*c)->summary);
	put_line(out, "help COMMAND", "print the options of a command");
	help_options(out, NULL, NULL);
}

void help_rows(struct out *out, const struct cli_tool *cli,
	       const struct cli_command *command)
{
	const struct cli_option *const sets[] = {
		command ? command->options : NULL, tool_options,
	};
	const struct cli_command *const *c;
	const struct cli_option *row;
	const char *word;
	size_t set, i;

	for (c = command ? NULL : cli->commands; c && *c; c++)
		out_printf(out, "command\t%s\t%s\n", (*c)->name,
			   (*c)->summary);
	for (set = 0; set < 2; set++) {
		for (row = sets[set]; row && (row->letter || row->name); row++) {
			char letter[3] = { '-', (char)row->letter, '\0' };

			if (!row->help)
				continue;
			out_printf(out, "option\t%s\t%s%s\t%s\t",
				   row->letter ? letter : "",
				   row->name ? "--" : "",
				   row->name ? row->name : "",
				   row->arg ? row->arg : "");
			for (i = 0; row->choices && row->choices[i]; i++)
				out_printf(out, "%s ", row->choices[i]);
			for (i = 0; row->word && (word = row->word(i)); i++)
				out_printf(out, "%s ", word);
			out_printf(out, "\t%s\n", row->help);
		}
	}
	out_printf(out, "arguments\t%s\n",
		   command ? command->synopsis : "");
}
