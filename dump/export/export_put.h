/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an export, and what puts one file into its sink. */
#ifndef NILFS2_DUMP_EXPORT_PUT_H
#define NILFS2_DUMP_EXPORT_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairtable.h"
#include "cli/tool.h"
#include "dump/export/export_names.h"
#include "dump/export/export_paths.h"
#include "dump/export/export_sink.h"
#include "dump/files/content.h"
#include "vol/root.h"
#include "vol/symlink.h"
#include "vol/tree.h"
#include "vol/treedigest.h"

struct export {
	struct tool *tool;
	struct root *root;
	struct root *base; /* only what differs from it is exported; or NULL */
	char comment[sizeof(TREEDIGEST_KEY) + TREEDIGEST_TEXT]; /* its digest */
	struct export_sink *sink;
	struct export_tally tally; /* of the last sink */
	struct tree *tree;
	/* Offset in PATHS, plus 1, of files with several names, by generation
	   and number. */
	struct pairtable links;
	char *paths;
	size_t paths_used, paths_room;
	struct export_names names;
	struct export_paths given; /* paths of deleted files */
	struct file file;
	const struct file *found; /* content of a file from logs, or NULL */
	struct content content;
	char *buffer;
	char target[SYMLINK_TARGET_MAX + 1];
	bool patient;	 /* continue after unreadable blocks of a file */
	uint64_t broken; /* files that are missing or incomplete */
};

/* Fills FILE.  A single file is exported under its own name. */
void export_put_describe(struct export *e, const struct tree_item *item,
		     struct export_file *file);

/* Exports a file that is not a directory.  Returns as the ops of a sink do. */
int export_put_file(struct export *e, struct export_file *file);

/* Reports the file at PATH if RET is positive; returns a negative RET. */
int export_put_note(struct export *e, const char *path, size_t len, int ret);

/* The same as a callback: ERR is a negative errno. */
void export_put_broken(void *arg, const char *path, size_t len, int err);

#endif
