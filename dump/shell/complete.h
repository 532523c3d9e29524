/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion of the lines of the shell. */
#ifndef NILFS2_DUMP_COMPLETE_H
#define NILFS2_DUMP_COMPLETE_H

#include "base/context.h"
#include "cli/option.h"
#include "out/out.h"
#include "vol/root.h"

struct completion {
	const char *text;	/* what there is of a name */
	size_t len;
	char quote;		/* of the word, or NUL */
	size_t count;		/* of the names that begin with TEXT */
	char *common;		/* their common beginning, `common_len` bytes */
	size_t common_len;
	bool directory;		/* the only one is a directory */
	struct out *choices;	/* gets them, one a line */
};

/* Offers the LEN bytes NAME. */
void complete_name(struct completion *c, const char *name, size_t len,
		   bool directory);

/* Offers the long options of ROWS (NULL: none), "--NAME". */
void complete_options(struct completion *c, const struct cli_option *rows);

/* Offers the names in directory DIR, a path, of ROOT; failures offer nothing. */
void complete_directory(struct completion *c, struct context *cx,
			struct root *root, const char *dir);

/* Puts what is missing in INSERT, and drops the choices if there is any. */
void complete_end(struct completion *c, struct out *insert);

#endif
