/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of files that no checkpoint has any more, as logs list it. */
#ifndef NILFS2_DUMP_LOGBLOCKS_H
#define NILFS2_DUMP_LOGBLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dump/past/logfiles.h"
#include "vol/extent.h"
#include "vol/volume.h"

struct logblocks_file {
	const struct logfile *file;
	struct nilfs_inode inode;
	/* What was found of the content; never NULL. */
	const struct extent *extents;
	size_t count;
	uint64_t whole;		/* bytes found, with holes; the size: all */
};

/* A negative errno ends the search. */
typedef int logblocks_found(void *arg, struct context *cx,
			    const struct logblocks_file *file);

/*
 * Calls FOUND for each of FILES that is wanted.  A block counts as found if the map
 * of the file leads to it and the checksum of its log is right.  What cannot be
 * read counts as lost.  Memory is bounded: the logs are read again for files that
 * do not fit the budget with the others.  -ENOMEM if the nodes of one file alone
 * do not, -EINTR; failures of FOUND.
 */
int logblocks_run(struct volume *vol, struct context *cx,
		  struct logfiles *files, logblocks_found *found, void *arg);

#endif
