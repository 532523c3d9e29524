/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Duplicate names of a directory, and wrong "." and "..". */
#ifndef NILFS2_DUMP_EXPORT_NAMES_H
#define NILFS2_DUMP_EXPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "vol/file.h"

struct export_level;

/* The directories from the top to the current one.  All zero: none. */
struct export_names {
	struct export_level *levels;
	size_t depth, room;
};

/*
 * Descends into DIR.  Sets *DOTS if its "." or ".." is wrong or duplicate.  Read
 * failures are ignored.  -ENOMEM, -EINTR.
 */
int export_names_enter(struct export_names *names, struct context *cx,
		       struct file *dir, bool *dots);

/* Whether NAME (LEN bytes) already occurred in the current directory. */
bool export_names_meet(struct export_names *names, const char *name,
		      size_t len);

void export_names_leave(struct export_names *names);
void export_names_fini(struct export_names *names);

#endif
