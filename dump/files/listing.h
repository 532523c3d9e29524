/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of files: names, or names with attributes, as text and as JSON. */
#ifndef NILFS2_DUMP_LISTING_H
#define NILFS2_DUMP_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/tool.h"
#include "out/table.h"
#include "out/value.h"
#include "vol/file.h"
#include "vol/symlink.h"
#include "vol/tree.h"

#define LISTING_TEXT_COLUMNS 10

/* The caller sets the members up to LOGS; the others are zero at first. */
struct listing {
	struct tool *tool;
	struct root *root;
	bool details;	/* attributes too */
	bool recursive; /* whole paths */
	bool inode;
	bool full_time;
	bool checkpoints; /* with the checkpoint of each row */
	uint64_t cno;	  /* that of the next row; 0: none */
	bool logs;	  /* with files that only logs have */
	/* The next row, if it is such a file: its blocks, the number of bytes
	   found, and its last checkpoint.  NULL: it is another file. */
	const struct file *found;
	uint64_t whole, last;
	bool broken; /* something unreadable was reported */
	bool any;    /* there was a row */
	struct table table;
	struct column columns[LISTING_TEXT_COLUMNS];
	struct file file; /* of a symbolic link */
	char target[SYMLINK_TARGET_MAX + 1];
	char *line; /* a name with its target */
	size_t line_room;
	int64_t mtime_sec; /* the time of the last row as text */
	size_t mtime_len;  /* 0: none yet */
	char second[VALUE_TEXT_MAX];	 /* that time without a fraction */
	char mtime[VALUE_TEXT_MAX + 10]; /* the same with one */
};

/* Prints the head of the list. */
void listing_begin(struct listing *rows);

/* Prints one item of a walk, or reports its failure. */
void listing_put(struct listing *rows, const struct tree_item *item);

/* Completes a listing that did not fail. */
void listing_end(struct listing *rows);
void listing_fini(struct listing *rows);

/* The name of a type NILFS_FT_*. */
const char *listing_type(uint8_t type);

#endif
