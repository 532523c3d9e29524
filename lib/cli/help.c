// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Help texts.
 *
 * Long lines are wrapped here rather than in the rows, so that a row's text
 * is a phrase and nothing else.
 */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 80
#define TEXT_COLUMN 30

/* How many bytes of TEXT fit on a line of WIDTH, ending at a blank. */
static size_t fitting(const char *text, size_t width)
{
	size_t len = strlen(text), i;

	if (len <= width)
		return len;
	for (i = width; i > 0; i--)
		if (text[i] == ' ')
			return i;
	return strcspn(text, " ");
}

void help_line(struct out *out, const char *term, const char *text)
{
	size_t used = strlen(term) + 2;

	out_printf(out, "  %s", term);
	if (used > TEXT_COLUMN - 2) {
		out_char(out, '\n');
		used = 0;
	}
	do {
		size_t n = fitting(text, LINE_WIDTH - TEXT_COLUMN);

		out_repeat(out, ' ', TEXT_COLUMN - used);
		out_bytes(out, text, n);
		out_char(out, '\n');
		text += n;
		text += strspn(text, " ");
		used = 0;
	} while (*text);
}

void help_options(struct out *out, const struct cli_option *rows)
{
	for (; rows && (rows->letter || rows->name); rows++) {
		char letter[4] = "   ", term[128];

		if (!rows->help)
			continue;
		if (rows->letter)
			snprintf(letter, sizeof(letter), "-%c%s",
				 rows->letter, rows->name ? "," : "");
		snprintf(term, sizeof(term), "%s%s%s%s%s", letter,
			 rows->name ? " --" : "", rows->name ? rows->name : "",
			 rows->arg && rows->arg[0] != '[' ? " " : "",
			 rows->arg ? rows->arg : "");
		help_line(out, term, rows->help);
	}
}

void help_paragraphs(struct out *out, const char *text, unsigned int indent)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n)
			out_repeat(out, ' ', indent);
		out_bytes(out, text, n);
		out_char(out, '\n');
		text += n + (text[n] == '\n');
	}
}
