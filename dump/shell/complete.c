// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Completion of the lines of the shell.
 *
 * Only the common beginning of all names is kept, so a directory of any size takes
 * the same memory, but for the list of choices, which ends at a limit.
 */
#include "dump/shell/complete.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dump/shell/words.h"
#include "vol/dir.h"

#define CHOICES_MAX 200

void complete_name(struct completion *c, const char *name, size_t len,
		   bool directory)
{
	size_t n = 0;

	if (len < c->len || memcmp(name, c->text, c->len))
		return;
	if (!c->count) {
		c->common = malloc(len ? len : 1);
		if (!c->common)
			return;
		memcpy(c->common, name, len);
		c->common_len = len;
	}
	while (n < len && n < c->common_len && name[n] == c->common[n])
		n++;
	/* No part of a character. */
	while (n && n < len && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	c->common_len = n;
	c->directory = directory;
	if (++c->count <= CHOICES_MAX) {
		words_quote(c->choices, name, len, '"');
		out_string(c->choices, directory ? "/\n" : "\n");
	} else if (c->count == CHOICES_MAX + 1) {
		out_string(c->choices, "...\n");
	}
}

void complete_options(struct completion *c, const struct cli_option *rows)
{
	const struct cli_option *row;
	char name[64] = "--";
	size_t len;

	for (row = rows; row && (row->letter || row->name); row++) {
		len = row->help && row->name ? strlen(row->name) : sizeof(name);
		if (len + 2 > sizeof(name))
			continue;
		memcpy(name + 2, row->name, len);
		complete_name(c, name, len + 2, false);
	}
}

void complete_directory(struct completion *c, struct context *cx,
			struct root *root, const char *dir)
{
	struct dir_cursor cursor;
	struct dir_entry entry;
	struct file file;
	uint64_t ino;

	if (dir_resolve(root, cx, dir, &ino) ||
	    root_file(root, cx, ino, &file) ||
	    !S_ISDIR(le16_get(file.inode.i_mode)) ||
	    dir_cursor_open(&cursor, cx, &file))
		return;
	while (dir_cursor_next_sound(&cursor, cx, &entry) > 0)
		if (!dir_is_dots(&entry))
			complete_name(c, entry.name, entry.len,
				      entry.type == NILFS_FT_DIR);
	dir_cursor_close(&cursor);
}

void complete_end(struct completion *c, struct out *insert)
{
	bool added = c->common_len > c->len;

	if (added)
		words_quote(insert, c->common + c->len, c->common_len - c->len,
			    c->quote);
	if (c->count == 1 && c->directory)
		out_char(insert, '/');
	if (c->count == 1 && !c->directory && c->quote)
		out_char(insert, c->quote);
	if (c->count == 1 && !c->directory)
		out_char(insert, ' ');
	free(c->common);
	c->common = NULL;
	/* The choices are shown by a second try. */
	if (added || c->count == 1)
		c->choices->next = c->choices->buffer;
}
