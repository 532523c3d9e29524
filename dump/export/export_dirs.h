/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories that are put into a tar stream after all that is in them. */
#ifndef NILFS2_DUMP_EXPORT_DIRS_H
#define NILFS2_DUMP_EXPORT_DIRS_H

#include <stddef.h>

#include "base/context.h"
#include "dump/export/export_sink.h"

/* To begin with, all zero. */
struct export_dirs {
	struct export_dir_entry *entries;
	size_t used, room;
};

/* Copies what is needed of FILE, a directory.  -ENOMEM. */
int export_dirs_add(struct export_dirs *dirs, struct context *cx,
		    const struct export_file *file);

/* Puts all of them into SINK, a directory after those in it; as its enter(). */
int export_dirs_put(struct export_dirs *dirs, struct context *cx,
		    struct export_sink *sink);

void export_dirs_fini(struct export_dirs *dirs);

#endif
