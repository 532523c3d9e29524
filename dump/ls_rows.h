/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a listing, as text or JSON. */
#ifndef NILFS2_DUMP_LS_ROWS_H
#define NILFS2_DUMP_LS_ROWS_H

#include <stdbool.h>

#include "base/timefmt.h"
#include "cli/tool.h"
#include "dump/tree.h"
#include "out/table.h"
#include "vol/symlink.h"

#define LS_ROWS_TEXT_COLUMNS 8

/* The caller sets the members up to FULL_TIME; the others are zero at first. */
struct ls_rows {
	struct tool *tool;
	struct root *root;
	bool details;	/* attributes too */
	bool recursive; /* whole paths */
	bool inode;
	bool full_time;
	bool broken; /* something was named as unreadable */
	struct table table;
	struct column columns[LS_ROWS_TEXT_COLUMNS];
	struct file file; /* of a symbolic link */
	char target[SYMLINK_TARGET_MAX + 1];
	char *line; /* a name with its target */
	size_t line_room;
	int64_t mtime_sec; /* the time of the last row as text */
	size_t mtime_len;  /* 0: none yet */
	char mtime[TIMEFMT_ISO_MAX + 10];
};

void ls_rows_begin(struct ls_rows *rows);

/* Puts one entry of the walk. */
void ls_rows_put(struct ls_rows *rows, const struct tree_item *item);

/* Completes a listing that did not fail. */
void ls_rows_end(struct ls_rows *rows);

void ls_rows_fini(struct ls_rows *rows);

#endif
