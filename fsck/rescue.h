/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A volume on a failing device: a copy of it, and what could not be read. */
#ifndef NILFS2_FSCK_RESCUE_H
#define NILFS2_FSCK_RESCUE_H

#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/output.h"

/*
 * Adds what the map file PATH of GNU ddrescue does not have as rescued to BAD,
 * of badareas_open(): also what it does not mention.  -EBADMSG for anything that
 * is no such file, -ENOMEM, or what the system says.
 */
int rescue_read_map(struct dev *bad, struct context *cx, const char *path);

/*
 * Makes the new file FILE a sparse copy of SOURCE, opened to be written as *COPY,
 * with *BAD over it: what SOURCE, or BAD areas of MAP (NULL: none), cannot give is
 * unreadable there.  Prints how much that is.  -ENOSPC, -EINTR, as
 * devfile_create().
 */
int rescue_copy(struct dev **copy, struct dev **bad, struct tool *tool,
		struct dev *source, const struct output *file,
		const char *map);

#endif
