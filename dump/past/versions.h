/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The versions of files over all checkpoints. */
#ifndef NILFS2_DUMP_VERSIONS_H
#define NILFS2_DUMP_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct volume;

/*
 * A file in consecutive checkpoints, in which neither its inode nor its names
 * differ.
 */
struct version {
	uint64_t first, last;	/* checkpoints */
	uint64_t checkpoints;	/* that have it */
	uint64_t created;	/* the time of the first one */
	uint64_t ino;
	struct nilfs_inode inode;
	/*
	 * Blocks that differ from the version before, in the first one all;
	 * only valid if KNOWN, because maps may be damaged.
	 */
	uint64_t changed;
	bool known;
	const char *names; /* paths, each with a NUL after it */
	size_t names_len;
};

struct versions_sink {
	/* A version, by last checkpoint.  A negative errno ends the walk. */
	int (*found)(void *arg, const struct version *version);
	/* Checkpoint CNO cannot be read: the failure text says what. */
	void (*broken)(void *arg, uint64_t cno, int err);
	void *arg;
};

/*
 * All versions of inode INO, whichever files had the number.  -ENOENT if no
 * checkpoint has it, -EUCLEAN or -EIO if the list of checkpoints cannot be
 * read, -ENOMEM past the memory budget, -EINTR.
 */
int versions_of_inode(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct versions_sink *sink);

/*
 * The same for all files that are at PATH in some checkpoint, with their
 * versions that have other names.
 */
int versions_of_path(struct volume *vol, struct context *cx, const char *path,
		     const struct versions_sink *sink);

#endif
