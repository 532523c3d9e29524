// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The words of a line of the shell.
 *
 * Names of files contain any bytes.  A name as other commands print it, with \xHH for
 * bytes that are no text, is the same name in a line.
 */
#include "dump/shell/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "disk/ondisk.h"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Reads what follows a backslash, LEFT bytes at AT: returns its length and the
 * character in *C; 0 if it is incomplete or not possible.
 */
static size_t read_escape(const char *at, size_t left, char *c)
{
	int high, low;

	if (!left)
		return 0;
	*c = *at;
	if (*at != 'x')
		return 1;
	high = left > 1 ? hex_digit(at[1]) : -1;
	low = left > 2 ? hex_digit(at[2]) : -1;
	if (high < 0 || low < 0 || !(high | low))
		return 0;
	*c = (char)(high << 4 | low);
	return 3;
}

/* Splits the LEN bytes LINE; BEGUN: what is missing at the end is left out. */
static int split(struct words *w, struct context *cx, const char *line,
		 size_t len, bool begun)
{
	char *to, c;
	size_t i, n;

	*w = (struct words){ .count = 0 };
	w->text = to = malloc(len + 1);
	w->items = calloc(len / 2 + 2, sizeof(*w->items));
	if (!to || !w->items)
		return fail(cx, -ENOMEM, "words");
	for (i = 0; i < len; i++) {
		c = line[i];
		if (!w->quote && (c == ' ' || c == '\t')) {
			if (w->open)
				*to++ = '\0';
			w->open = false;
			continue;
		}
		if (!w->open)
			w->items[w->count++] = to;
		w->open = true;
		if (w->quote ? c == w->quote : c == '\'' || c == '"') {
			if (w->quote)
				w->quote = '\0';
			else
				w->quote = c;
			continue;
		}
		if (c == '\\' && w->quote != '\'') {
			n = read_escape(line + i + 1, len - i - 1, &c);
			if (!n && begun)
				break;
			if (!n)
				return fail(cx, -EINVAL, "a backslash must be followed "
					    "by a character, or by x01 to xff");
			i += n;
		}
		*to++ = c;
	}
	*to = '\0';
	if (w->quote && !begun)
		return fail(cx, -EINVAL, "the quote %c is not closed", w->quote);
	return 0;
}

int words_split(struct words *w, struct context *cx, const char *line)
{
	return split(w, cx, line, strlen(line), false);
}

int words_split_begun(struct words *w, struct context *cx, const char *line,
		      size_t len)
{
	return split(w, cx, line, len, true);
}

void words_free(struct words *w)
{
	free(w->items);
	free(w->text);
	*w = (struct words){ .count = 0 };
}

void words_quote(struct out *out, const char *name, size_t len, char quote)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	const char *special = quote == '"' ? "\"" : " '\"";
	size_t i, n = text_escape(text, sizeof(text), name, len);

	if (quote == '\'') {
		out_bytes(out, name, len);
		return;
	}
	for (i = 0; i < n; i++) {
		if (strchr(special, text[i]))
			out_char(out, '\\');
		out_char(out, text[i]);
	}
}

bool words_is_absolute(const char *word)
{
	size_t digits = *word == '<' ? strspn(word + 1, "0123456789") : 0;

	return *word == '/' || (digits && word[digits + 1] == '>' &&
				(!word[digits + 2] || word[digits + 2] == '/'));
}

char *words_path(const char *cwd, const char *word)
{
	bool absolute = words_is_absolute(word);
	size_t first = absolute ? 0 : strlen(cwd), len = strlen(word), root, n;
	char *path = malloc(strlen(cwd) + len + 2), *from, *to;

	if (!path)
		return NULL;
	memcpy(path, cwd, first + 1);
	path[first] = '/';
	memcpy(path + (absolute ? 0 : first + 1), word, len + 1);
	/* "<INO>" stays, and so does the first ".." after it. */
	root = *path == '<' ? strcspn(path, "/") : 0;
	for (from = to = path + root; *from; from += n) {
		from += strspn(from, "/");
		n = strcspn(from, "/");
		if (!n || (n == 1 && *from == '.'))
			continue;
		if (n == 2 && from[0] == '.' && from[1] == '.') {
			char *last = to;

			while (last > path + root && *--last != '/')
				;
			if (to > path + root &&
			    (to - last != 3 || memcmp(last, "/..", 3))) {
				to = last;
				continue;
			}
			if (!root)
				continue;
		}
		*to++ = '/';
		memmove(to, from, n);
		to += n;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
	return path;
}
