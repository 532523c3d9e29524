/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that a tool creates: pictures, pages, archives, images, undo files.
 *
 *	struct output_how how = { .inputs = inputs };
 *	struct output *o;
 *	int err = output_open(&o, cx, path, &how);
 *
 *	if (!err)
 *		err = put_everything(o->fd);
 *	if (!err)
 *		err = output_commit(o, cx);
 *	output_close(o);
 */
#ifndef NILFS2_DEV_OUTPUT_H
#define NILFS2_DEV_OUTPUT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/context.h"

/* The treatment of an existing file with the name. */
enum output_there {
	OUTPUT_KEEP,	/* keep it; there is no option to replace it */
	OUTPUT_ASK,	/* keep it; the message mentions --force */
	OUTPUT_REPLACE,	/* replace it when the new one is complete */
};

struct output_how {
	enum output_there there;
	/* Contains blocks of a volume: readable by its owner only, and flushed
	   with its name when it is complete. */
	bool volume;
	/* Written sequentially, so it may be a pipe, an open descriptor, /dev/null
	   or /dev/full. */
	bool stream;
	/* Files that the same command reads, NULL at the end; NULL: none. */
	const char *const *inputs;
};

/* Only PATH and FD are for users. */
struct output {
	const char *path;	/* the final name; borrowed */
	int fd;			/* for writing and reading; owned, -1: none */
	const char *name;	/* the last component of PATH */
	struct output_how how;
	int dir;		/* -1: none */
	char *hidden;		/* name until the commit, or NULL */
	bool replaces;		/* THERE, a file with its name */
	struct stat there;
};

/*
 * Creates a file with a temporary name in the directory of PATH (borrowed), to which
 * output_commit() renames it.
 *
 * An existing file PATH is not opened.  A regular file is refused or replaced
 * according to HOW->there; an input, a backing file of a loop device and a file
 * locked by another process are always refused.  Any other type is refused, also a
 * symbolic link, for any target.  With HOW->stream a pipe, /dev/null and /dev/full
 * are opened and written to; /dev/stdout, /dev/stderr and /dev/fd/N refer to the
 * descriptor inherited by the process, at its position.
 *
 * -EEXIST, -ELOOP, -EISDIR, -EINVAL for an input, -EBUSY, with a text that
 * recommends an action; -EBADF for a descriptor; otherwise as open(2).
 */
int output_open(struct output **op, struct context *cx, const char *path,
		const struct output_how *how);

/* Whether output_open() would fail now; creates nothing. */
int output_check(struct context *cx, const char *path,
		 const struct output_how *how);

/*
 * Renames the complete file to its final name.  -EEXIST if another file has got that
 * name since output_open(); that file is kept.  Otherwise as close(2), fsync(2) and
 * rename(2).  If only the flush of the directory fails, a file that has replaced
 * another stays; any other one is removed.
 */
int output_commit(struct output *o, struct context *cx);

/* Frees O, and removes the file unless it was committed.  NULL is accepted. */
void output_close(struct output *o);

#endif
