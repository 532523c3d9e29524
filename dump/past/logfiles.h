/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that no checkpoint has any more, of which logs still have the inode. */
#ifndef NILFS2_DUMP_LOGFILES_H
#define NILFS2_DUMP_LOGFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/inoset.h"
#include "dump/past/logitems.h"
#include "vol/extent.h"
#include "vol/root.h"
#include "vol/volume.h"

struct logfile {
	uint64_t ino;		/* first field: search_number() */
	uint32_t generation;
	uint16_t type;		/* S_IFREG and so on */
	bool known;		/* a checkpoint has it */
	bool wanted;		/* its content is searched for */
	uint64_t first, last;	/* checkpoints of the inodes that were found */
	uint64_t seq, blocknr;	/* of the newest one: its block in an ifile */
	uint32_t index;		/* of that block, from the beginning of its log */

	/* The entry of a directory for it, logged.c; NULL: not known. */
	char *name;
	uint64_t dir;
	uint64_t named;		/* checkpoint in which it was written */
	bool certain;		/* the inode was there at that time */
};

/* All zero: none. */
struct logfiles {
	struct logfile *items;	/* by number, then generation and type */
	size_t count, room;
	struct inoset dirs;	/* numbers that a directory has or had */
	struct logitems logs;
};

/*
 * Collects the files whose inode some log has, and that LATEST has not; those
 * of older checkpoints are marked as known.  The checksums of the logs that have
 * the newest inodes of the others are right.  -ENOMEM past the memory budget,
 * -EINTR; -EUCLEAN, -EIO if the list of checkpoints cannot be read.
 */
int logfiles_collect(struct logfiles *files, struct context *cx,
		     struct root *latest);
void logfiles_fini(struct logfiles *files);

/* The index of the first file whose number is INO or more. */
size_t logfiles_from(const struct logfiles *files, uint64_t ino);

/* Copies the newest inode of FILE.  -EIO. */
int logfiles_inode(struct context *cx, struct volume *vol,
		   const struct logfile *file, struct nilfs_inode *inode);

/* The content of one, as logs list it: logblocks.c. */
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
