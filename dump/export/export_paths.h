/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths in the target, of files that come from more than one tree. */
#ifndef NILFS2_DUMP_EXPORT_PATHS_H
#define NILFS2_DUMP_EXPORT_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "base/pairtable.h"

/* All zero: none was given. */
struct export_paths {
	struct pairtable given; /* hash of a path: the last number after it */
	struct pairtable dirs; /* hash of a directory: its offset, plus 1 */
	char *text;		/* the paths that directories were given */
	size_t text_used, text_room;
	char *path; /* the last one that was given */
	size_t path_room;
};

/*
 * Gives the file at PATH, "a/b", a path that no other one has; directories at
 * PATH and above it have one each, which their files share.  *GIVEN is valid
 * until the next call.  -ENOMEM.
 */
int export_paths_give(struct export_paths *p, struct context *cx,
		      const char *path, bool directory, const char **given);

void export_paths_fini(struct export_paths *p);

#endif
