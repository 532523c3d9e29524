/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that a directory has more than once, and wrong "." and "..". */
#ifndef NILFS2_DUMP_EXPORT_NAMES_H
#define NILFS2_DUMP_EXPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/file.h"

struct export_level;

/* The directories from the top to the one at hand.  All zero: none. */
struct export_names {
	struct export_level *levels;
	size_t depth, room;
};

/*
 * Goes down into DIR.  *DOTS: its "." or ".." leads elsewhere than to it and to
 * the directory above, or is there twice.  What cannot be read is passed over.
 * -ENOMEM, -EINTR.
 */
int export_names_enter(struct export_names *names, struct context *cx,
		       struct file *dir, bool *dots);

/* Whether NAME (LEN bytes) was met in the directory at hand before. */
bool export_names_meet(struct export_names *names, const char *name,
		      size_t len);

void export_names_leave(struct export_names *names);
void export_names_fini(struct export_names *names);

#endif
