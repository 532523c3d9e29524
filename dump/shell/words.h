/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of a line of the shell, and paths in them. */
#ifndef NILFS2_DUMP_WORDS_H
#define NILFS2_DUMP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "out/out.h"

struct words {
	char *text;		/* all words, each with a NUL after it */
	char **items;		/* end with NULL */
	int count;
	/* Of words_split_begun(): */
	bool open;		/* the last word has no blank after it */
	char quote;		/* the one that is not closed, or NUL */
};

/*
 * Splits LINE at blanks.  After a backslash a character has no special meaning, but \xHH
 * is the byte with that number, as names are printed.  Both also apply between double
 * quotes.  Between single quotes no character has a special meaning.  *W is freed with
 * words_free(), after a failure too.  -EINVAL with the failure text, -ENOMEM.
 */
int words_split(struct words *w, struct context *cx, const char *line);

/* The same for the first LEN bytes of a line that may continue. */
int words_split_begun(struct words *w, struct context *cx, const char *line,
		      size_t len);

void words_free(struct words *w);

/*
 * Puts the LEN bytes NAME such that words_split() finds them in a word that was begun
 * with QUOTE (NUL: none).
 */
void words_quote(struct out *out, const char *name, size_t len, char quote);

/* Whether WORD is a path that does not depend on a directory: "/..." or "<INO>/...". */
bool words_is_absolute(const char *word);

/*
 * The path WORD, in the directory CWD unless it is absolute, without "." and "..", as
 * far as the path has the directory above.  Freed by the caller; NULL without memory.
 */
char *words_path(const char *cwd, const char *word);

#endif
