/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of files that come in no order. */
#ifndef NILFS2_DUMP_EXPORT_DIRS_H
#define NILFS2_DUMP_EXPORT_DIRS_H

#include <stddef.h>

#include "base/context.h"
#include "dump/export/export_sink.h"

/* To begin with, all zero. */
struct export_dirs {
	struct export_dir_entry *entries;
	size_t used, room;
	char *at; /* the directory that the sink is in */
	size_t at_len, at_room;
};

/* Goes to the directory PATH (LEN bytes); as enter() and leave() of a sink. */
int export_dirs_go(struct export_dirs *dirs, struct context *cx,
		   struct export_sink *sink, const char *path, size_t len);

/* Copies what is needed of FILE, a directory.  -ENOMEM. */
int export_dirs_add(struct export_dirs *dirs, struct context *cx,
		    const struct export_file *file);

/*
 * Sets the attributes of all of them, of a directory after those in it; the
 * first of several at one path counts.  FAILED is called for one that the sink
 * fails at, with the errno.
 */
int export_dirs_put(struct export_dirs *dirs, struct context *cx,
		    struct export_sink *sink,
		    void (*failed)(void *arg, const char *path, int error),
		    void *arg);

void export_dirs_fini(struct export_dirs *dirs);

#endif
