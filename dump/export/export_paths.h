/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths and directories in the target, of files from several trees, in any order.
 */
#ifndef NILFS2_DUMP_EXPORT_PATHS_H
#define NILFS2_DUMP_EXPORT_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "base/pairtable.h"
#include "dump/export/export_sink.h"

/* All zero: empty. */
struct export_paths {
	struct pairtable given; /* by hash of a path: its last number */
	struct pairtable dirs; /* by hash of a directory: offset in TEXT, plus 1 */
	char *text;		/* paths of directories in the target */
	size_t text_used, text_room;
	char *path; /* the last path that was given */
	size_t path_room;

	struct export_dir_entry *entries;
	size_t used, room;
	char *at; /* the current directory of the sink */
	size_t at_len, at_room;
};

/*
 * Sets *GIVEN, valid until the next call, to a unique path for the file at PATH,
 * "a/b".  All files of a directory get the same path of the directory.  -ENOMEM.
 */
int export_paths_give(struct export_paths *p, struct context *cx,
		      const char *path, bool directory, const char **given);

/* Enters directory PATH (LEN bytes) of SINK; returns as enter() and leave() do. */
int export_paths_go(struct export_paths *p, struct context *cx,
		    struct export_sink *sink, const char *path, size_t len);

/* Records the path and attributes of directory FILE.  -ENOMEM. */
int export_paths_add(struct export_paths *p, struct context *cx,
		     const struct export_file *file);

/*
 * Sets the attributes of all recorded directories, of a parent after its
 * subdirectories.  The first one recorded for a path counts.  FAILED is called for
 * a failure of the sink, with the negative errno.
 */
int export_paths_put(struct export_paths *p, struct context *cx,
		     struct export_sink *sink,
		     void (*failed)(void *arg, const char *path, size_t len,
				    int err),
		     void *arg);

void export_paths_fini(struct export_paths *p);

#endif
