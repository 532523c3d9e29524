/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines of commands: from a terminal with editing, history and completion, if the
 * tools are built with libedit; otherwise, and from files, as they are.
 */
#ifndef NILFS2_CLI_LINEREAD_H
#define NILFS2_CLI_LINEREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "out/out.h"

struct lineread;

/* The longest line, in bytes. */
#define LINEREAD_MAX 65535

/*
 * Completes the line whose LEN bytes LINE are before the cursor: puts in INSERT what
 * follows them, and in CHOICES, if that is not unique, what may follow, one a line.
 */
typedef void lineread_completer(void *arg, const char *line, size_t len,
				struct out *insert, struct out *choices);

/*
 * Opens the file PATH, or standard input if it is NULL.  *TERMINAL: a person types the
 * lines, as standard input and output are a terminal; COMPLETE is then called with ARG.
 * *LRP is closed with lineread_close(), after a failure too.  Fails as fopen(3), -ENOMEM.
 */
int lineread_open(struct lineread **lrp, struct context *cx, const char *path,
		  lineread_completer *complete, void *arg, bool *terminal);

/*
 * Reads a line, on a terminal after PROMPT: 1 and *LINE without its end, valid until the
 * next one; 0 at the end.  -EINVAL with the failure text for a line that is skipped, as
 * it is too long or has a NUL; -EINTR after a signal; -EIO.
 */
int lineread_next(struct lineread *lr, struct context *cx, const char *prompt,
		  const char **line);

/* NULL is accepted. */
void lineread_close(struct lineread *lr);

#endif
