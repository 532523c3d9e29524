/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Help texts: two columns, wrapped at 80. */
#ifndef NILFS2_CLI_HELP_H
#define NILFS2_CLI_HELP_H

#include "cli/option.h"
#include "out/out.h"

/* Puts a line per option, "  -c, --checkpoint CNO   text". */
void help_options(struct out *out, const struct cli_option *rows);

/*
 * Puts "  TERM   TEXT" with TEXT in the column of help_options(): for lists of
 * commands and the like.
 */
void help_line(struct out *out, const char *term, const char *text);

/* Puts paragraphs, which hold their own line breaks, INDENT to the right. */
void help_paragraphs(struct out *out, const char *text, unsigned int indent);

#endif
