/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target of an export: a directory or a tar stream.
 *
 * The walk calls a sink once for each file, for a directory before and after its
 * content.  Attributes that a target cannot store are not failures: the sink
 * counts them.
 */
#ifndef NILFS2_DUMP_EXPORT_SINK_H
#define NILFS2_DUMP_EXPORT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/output.h"
#include "cli/progress.h"
#include "disk/ondisk.h"
#include "dump/files/content.h"

/* Attributes and files that were not exported, in numbers of files. */
enum export_loss {
	EXPORT_LOSS_OWNER,  /* uid and gid */
	EXPORT_LOSS_SETID,  /* set-user-ID and set-group-ID bits */
	EXPORT_LOSS_DEVICE, /* device files */
	EXPORT_LOSS_SOCKET, /* sockets */
	EXPORT_LOSS_TIME,   /* times out of the target's range */
	EXPORT_LOSS_COUNT
};

struct export_tally {
	uint64_t files; /* of all types, with each name */
	uint64_t bytes; /* of content, without holes */
	uint64_t losses[EXPORT_LOSS_COUNT];
};

/* One file to be exported. */
struct export_file {
	const char *path; /* below the target, "a/b"; "" for itself */
	const char *name; /* its last part; sane, see tree.h */
	uint64_t ino;
	const struct nilfs_inode *inode;
	const char *target;	 /* of a symbolic link */
	struct content *content; /* of a regular file */
	const char *linked; /* a path that it was exported as, or NULL */
	bool late; /* a directory whose attributes are set when it is left */
};

/* The prefix of names that mark a removal, in a layer of a container image. */
#define EXPORT_WHITEOUT ".wh."

struct export_sink;

/*
 * Each returns 0; a positive errno, with the failure text, if this file (a
 * directory: with its content) cannot be created in the target or read, and the
 * export continues; or a negative one that ends it.
 */
struct export_ops {
	/*
	 * Enters directory FILE, and leaves it.  A `late` directory may be
	 * entered again, unless it was left with an inode.
	 */
	int (*enter)(struct export_sink *sink, struct context *cx,
		     const struct export_file *file);
	int (*leave)(struct export_sink *sink, struct context *cx,
		     const struct export_file *file);
	/* Anything but a directory. */
	int (*put)(struct export_sink *sink, struct context *cx,
		   const struct export_file *file);
	/*
	 * Marks PATH as removed, for the tree that the export is applied to.
	 * NULL: not supported.
	 */
	int (*remove)(struct export_sink *sink, struct context *cx,
		      const char *path);
	/* Ends a complete export.  NULL: nothing to do. */
	int (*finish)(struct export_sink *sink, struct context *cx);
	/* Frees; an export that was not finished is incomplete. */
	void (*close)(struct export_sink *sink);
};

struct export_sink {
	const struct export_ops *ops;
	struct export_tally tally;
	struct progress *progress; /* of content; NULL: none is shown */
};

/* Adds LEN bytes of content to the tally. */
static inline void export_sink_count(struct export_sink *sink, uint64_t len)
{
	sink->tally.bytes += len;
	if (sink->progress)
		progress_update(sink->progress, sink->tally.bytes);
}

/*
 * A sink that creates the directory PATH, or fills an existing empty one.
 * -ENOTEMPTY, -ENOTDIR and errors of the system.
 */
int export_dir_open(struct export_sink **sink, struct context *cx,
		    const char *path);

/*
 * A sink that writes a tar stream; arguments as tar_stream_open().  The first member
 * gets the record COMMENT (borrowed), unless it is NULL: unlike a record of the whole
 * stream, it is ignored by all that unpack layers.
 */
int export_tar_open(struct export_sink **sink, struct context *cx,
		    const char *path, const struct output_how *how,
		    const char *comment);

#endif
