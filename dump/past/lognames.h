/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of files that no checkpoint has any more, from blocks of directories. */
#ifndef NILFS2_DUMP_LOGNAMES_H
#define NILFS2_DUMP_LOGNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dump/past/logfiles.h"
#include "vol/root.h"

/*
 * Sets the names of FILES as the blocks of directories have them that logs list,
 * the newest one of each.  -ENOMEM past the memory budget, -EINTR.
 */
int lognames_collect(struct logfiles *files, struct context *cx,
		     struct root *latest);

/* All zero but for the first two: ready to make paths. */
struct lognames {
	const struct logfiles *files;
	struct root *latest;
	uint64_t dir;		/* whose path was looked for last; 0: none */
	bool found;
	char *above, *path;	/* of entries of that directory; of the file */
	size_t above_room, above_len, path_room, path_len;
};

/*
 * Sets `path`, `path_len` bytes and a NUL, to the path of FILE.  It begins with a
 * slash if it leads to the root: in the latest state, or in the newest checkpoint
 * that has the directory, or by way of directories that only logs have.
 * Otherwise it begins with "#" and the number of the last directory that was
 * found, or of the file.  -ENOMEM, -EINTR; -EIO, -EUCLEAN if the list of
 * checkpoints cannot be read.
 */
int lognames_path(struct lognames *names, struct context *cx,
		  const struct logfile *file);
void lognames_fini(struct lognames *names);

#endif
