/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that a tool creates: pictures, pages, archives, images, undo files.
 *
 *	struct output_how how = { .inputs = inputs };
 *	struct output *o;
 *	int err = output_open(&o, cx, path, &how);
 *
 *	if (!err)
 *		err = put_everything(output_fd(o));
 *	if (!err)
 *		err = output_commit(o, cx);
 *	output_close(o);
 */
#ifndef NILFS2_DEV_OUTPUT_H
#define NILFS2_DEV_OUTPUT_H

#include <stdbool.h>

#include "base/context.h"

struct output;

/* What is done with a file that has the name already. */
enum output_there {
	OUTPUT_KEEP,	/* it stays, and there is no option for it */
	OUTPUT_ASK,	/* it stays; the message mentions --force */
	OUTPUT_REPLACE,	/* it goes when the new one is complete */
};

struct output_how {
	enum output_there there;
	/* Holds blocks of a volume: for its owner only, and on its disk, with
	   its name, when it is complete. */
	bool volume;
	/* Is written from its begin to its end, so that it may be a pipe, an
	   open descriptor, /dev/null or /dev/full. */
	bool stream;
	/* Files that the same command reads, up to NULL; NULL: none. */
	const char *const *inputs;
};

/*
 * Creates the file that output_commit() will give the name PATH (borrowed), in
 * the same directory, with a name of its own.
 *
 * What is at PATH is not opened: a regular file is refused or replaced as
 * HOW->there says, never one that is an input, a backing file of a loop device, or
 * locked by another process.  Anything else that is there is refused, a symbolic
 * link as well, wherever it leads.  With HOW->stream a pipe, /dev/null and
 * /dev/full are opened and written to; /dev/stdout, /dev/stderr and /dev/fd/N mean
 * the descriptor that the process was started with, at its position.
 *
 * -EEXIST, -ELOOP, -EISDIR, -EINVAL for an input, -EBUSY, with a text that says
 * what to do; -EBADF for a descriptor; else as open(2).
 */
int output_open(struct output **op, struct context *cx, const char *path,
		const struct output_how *how);

/* Whether that would be refused now; creates nothing. */
int output_check(struct context *cx, const char *path,
		 const struct output_how *how);

/* To be written to and read; the output keeps it. */
int output_fd(const struct output *o);

/* The name it will have. */
const char *output_path(const struct output *o);

/*
 * Gives the file, which is complete, its name.  -EEXIST if another file got that
 * name since output_open(), which stays; else as close(2), fsync(2) and
 * rename(2).
 */
int output_commit(struct output *o, struct context *cx);

/* Frees it, and removes the file unless it was committed.  NULL is accepted. */
void output_close(struct output *o);

#endif
