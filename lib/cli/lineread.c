// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of commands, by libedit on a terminal.
 *
 * The interface of libedit itself is used, not that of readline, which it has as well:
 * its functions get the object that they belong to, so that no variable of file scope
 * is needed.  The history is that of the process and is not kept in a file, as lines
 * contain names of files of the volume.
 */
#include "config.h"

#include "cli/lineread.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBEDIT
#include <histedit.h>

#include "cli/terminal.h"
#endif

#define HISTORY_LINES 1000

struct lineread {
	FILE *file;
	bool terminal;
	const char *prompt;
	lineread_completer *complete;
	void *arg;
	struct context *cx;	/* of the line being read */
#ifdef HAVE_LIBEDIT
	EditLine *edit;
	History *history;
#endif
	char line[LINEREAD_MAX + 1];
};

#ifdef HAVE_LIBEDIT

static char *get_prompt(EditLine *edit)
{
	struct lineread *lr = NULL;

	el_get(edit, EL_CLIENTDATA, &lr);
	return (char *)(uintptr_t)lr->prompt;
}

/* Prints the lines of TEXT below one another, in as many columns as fit. */
static void print_choices(const char *text)
{
	size_t width = 0, columns, i = 0, n;
	const char *line;

	for (line = text; *line; line += n + 1) {
		n = strcspn(line, "\n");
		width = n > width ? n : width;
	}
	columns = terminal_of(STDOUT_FILENO).columns / (width + 2);
	for (line = text; *line; line += n + 1) {
		n = strcspn(line, "\n");
		printf("%s%-*.*s", !i ? "\n" : "  ", (int)width, (int)n, line);
		i = i + 1 < columns ? i + 1 : 0;
	}
	putchar('\n');
	fflush(stdout);
}

/* Completes the word at the cursor, for the tabulator key. */
static unsigned char complete_line(EditLine *edit, int key)
{
	const LineInfo *info = el_line(edit);
	struct out *insert = NULL, *choices = NULL;
	unsigned char result = CC_ERROR;
	struct lineread *lr = NULL;
	const char *text;
	struct context cx;
	size_t len;

	(void)key;
	el_get(edit, EL_CLIENTDATA, &lr);
	context_child(lr->cx, &cx);
	if (out_open_memory(&cx, &insert) || out_open_memory(&cx, &choices))
		goto out;
	lr->complete(lr->arg, info->buffer, (size_t)(info->cursor - info->buffer),
		     insert, choices);
	text = out_memory(insert, &len);
	if (len && !el_insertstr(edit, text))
		result = CC_REFRESH;
	text = out_memory(choices, &len);
	if (!len)
		goto out;
	print_choices(text);
	result = CC_REDISPLAY;
out:
	out_close(insert, &cx);
	out_close(choices, &cx);
	return result;
}

static int start_editor(struct lineread *lr, struct context *cx)
{
	HistEvent event;

	setlocale(LC_CTYPE, "");
	lr->edit = el_init("nilfs2", stdin, stdout, stderr);
	lr->history = history_init();
	if (!lr->edit || !lr->history)
		return fail(cx, -ENOMEM, "line editor");
	history(lr->history, &event, H_SETSIZE, HISTORY_LINES);
	history(lr->history, &event, H_SETUNIQUE, 1);
	el_set(lr->edit, EL_CLIENTDATA, lr);
	el_set(lr->edit, EL_EDITOR, "emacs");
	el_set(lr->edit, EL_PROMPT, get_prompt);
	/* It then restores the terminal for a stop, and follows its size. */
	el_set(lr->edit, EL_SIGNAL, 1);
	el_set(lr->edit, EL_HIST, history, lr->history);
	el_set(lr->edit, EL_ADDFN, "nilfs2-complete", "Completes the word",
	       complete_line);
	el_set(lr->edit, EL_BIND, "^I", "nilfs2-complete", NULL);
	el_source(lr->edit, NULL);
	return 0;
}

/* Reads a line of a terminal; fails as lineread_next(). */
static int edit_line(struct lineread *lr, struct context *cx)
{
	HistEvent event;
	int count = 0;
	const char *text;

	errno = 0;
	text = el_gets(lr->edit, &count);
	if (!text || count <= 0)
		return count < 0 && errno && errno != EINTR ?
		       fail(cx, -EIO, "standard input") : count < 0 ? -EINTR : 0;
	if (count > LINEREAD_MAX)
		return fail(cx, -EINVAL, "the line is too long: %d bytes is the limit",
			    LINEREAD_MAX);
	memcpy(lr->line, text, (size_t)count);
	lr->line[count - (text[count - 1] == '\n')] = '\0';
	if (*lr->line)
		history(lr->history, &event, H_ENTER, text);
	return 1;
}

#endif

static int read_line(struct lineread *lr, struct context *cx)
{
	bool nul = false;
	size_t len = 0;
	int c;

	errno = 0;
	while ((c = getc(lr->file)) != EOF && c != '\n') {
		nul = nul || !c;
		if (len < LINEREAD_MAX)
			lr->line[len] = (char)c;
		len++;
	}
	if (c == EOF && ferror(lr->file)) {
		clearerr(lr->file);
		return errno == EINTR ? -EINTR : fail(cx, -EIO, "commands");
	}
	if (c == EOF && !len)
		return 0;
	if (len > LINEREAD_MAX)
		return fail(cx, -EINVAL, "the line is too long: %d bytes is the limit",
			    LINEREAD_MAX);
	lr->line[len] = '\0';
	return nul ? fail(cx, -EINVAL, "the line contains a NUL byte") : 1;
}

int lineread_open(struct lineread **lrp, struct context *cx, const char *path,
		  lineread_completer *complete, void *arg, bool *terminal)
{
	struct lineread *lr = calloc(1, sizeof(*lr));

	*lrp = lr;
	if (!lr)
		return fail(cx, -ENOMEM, "lines");
	lr->complete = complete;
	lr->arg = arg;
	lr->file = path ? fopen(path, "re") : stdin;
	if (!lr->file)
		return fail(cx, -errno, "%s", path);
	lr->terminal = !path && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	*terminal = lr->terminal;
#ifdef HAVE_LIBEDIT
	if (lr->terminal)
		return start_editor(lr, cx);
#endif
	return 0;
}

int lineread_next(struct lineread *lr, struct context *cx, const char *prompt,
		  const char **line)
{
	lr->prompt = prompt;
	lr->cx = cx;
	*line = lr->line;
#ifdef HAVE_LIBEDIT
	if (lr->edit)
		return edit_line(lr, cx);
#endif
	if (lr->terminal) {
		fputs(prompt, stdout);
		fflush(stdout);
	}
	return read_line(lr, cx);
}

void lineread_close(struct lineread *lr)
{
	if (!lr)
		return;
#ifdef HAVE_LIBEDIT
	if (lr->edit)
		el_end(lr->edit);
	if (lr->history)
		history_end(lr->history);
#endif
	if (lr->file && lr->file != stdin)
		fclose(lr->file);
	free(lr);
}
