/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are in no checkpoint, but whose inode is in a log. */
#ifndef NILFS2_DUMP_LOGFILES_H
#define NILFS2_DUMP_LOGFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/inoset.h"
#include "dump/history/logitems.h"
#include "vol/extent.h"
#include "vol/root.h"
#include "vol/volume.h"

struct logfile {
	uint64_t ino;		/* first field: search_number() */
	uint32_t generation;
	uint16_t type;		/* S_IFREG and so on */
	bool known;		/* it is in a checkpoint */
	bool reused;		/* another file had the number before */
	bool guessed;		/* the inode is lost: logs list blocks of it */
	bool wanted;		/* its content is to be found */
	uint64_t first, last;	/* checkpoints of the inodes that were found */
	/* The block of an ifile with the newest one: sequence number of its log,
	   position on the device and in the log. */
	uint64_t seq, blocknr;
	uint32_t index;

	/* Its directory entry (logged.c); NULL: unknown. */
	char *name;
	uint64_t dir;
	uint64_t named;		/* checkpoint that wrote the entry */
	bool certain;		/* the file existed at that checkpoint */
};

/* All zero: none. */
struct logfiles {
	struct logfile *items;	/* by number, then generation and type */
	size_t count, room;
	struct inoset dirs;	/* inode numbers that a directory has or had */
	struct logitems logs;
	/* The files of a damaged checkpoint; blocks of its ifile of older ones. */
	bool rescue;
	struct inoset stale;
};

/*
 * Collects the files whose inode is in a log and that are not in LATEST; those in
 * older checkpoints are marked as known.  The newest inodes of the others are in
 * logs with the right checksum.  -ENOMEM if the memory budget is exceeded, -EINTR;
 * -EUCLEAN, -EIO if the list of checkpoints cannot be read.
 */
int logfiles_collect(struct logfiles *files, struct context *cx,
		     struct root *latest);

/*
 * Adds the files of ROOT, whose ifile has extents, but those in SEEN and the root
 * directory.  Their first checkpoint is that of the oldest inode that was found, or 0
 * if no other file had the number.  Where a block of the ifile is lost, a file is
 * guessed for each number that logs list blocks for; where it is of an older
 * checkpoint, for those that it does not have.
 * BROKEN is called for an inode in use that breaks a rule; the failure text says
 * which.  -ENOMEM, -EINTR.
 */
int logfiles_rescue(struct logfiles *files, struct context *cx,
		    struct root *root, const struct inoset *seen,
		    void (*broken)(void *arg, uint64_t ino, int err), void *arg);

void logfiles_fini(struct logfiles *files);

/* The index of the first file whose number is INO or more. */
size_t logfiles_from(const struct logfiles *files, uint64_t ino);

/* Copies the newest inode of FILE; of a guessed one only type and mode.  -EIO. */
int logfiles_inode(struct context *cx, struct volume *vol,
		   const struct logfile *file, struct nilfs_inode *inode);

/* The content of a file, as logs list it (logblocks.c). */
struct logblocks_file {
	const struct logfile *file;
	struct nilfs_inode inode;
	/* The blocks that were found; never NULL. */
	const struct extent *extents;
	size_t count;
	uint64_t whole;		/* bytes found, including holes */
};

/* A negative errno ends the search. */
typedef int logblocks_found(void *arg, struct context *cx,
			    const struct logblocks_file *file);

/*
 * Calls FOUND for each of FILES that is wanted.  A block counts as found if the map
 * of the file refers to it and the checksum of its log is right; with `rescue` an
 * entry of the DAT, or else a listing in a log, is enough.  Unreadable blocks count as
 * lost.  If the blocks of all files exceed the memory budget, further
 * passes over the lists of the logs are made.  -ENOMEM if the nodes of one file
 * exceed it, -EINTR; failures of FOUND.
 */
int logblocks_run(struct volume *vol, struct context *cx,
		  struct logfiles *files, logblocks_found *found, void *arg);

#endif
