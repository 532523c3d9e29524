/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directories of a source, open as far as there are descriptors.
 *
 * A directory is held by the walk, by those below it and by files that are
 * still to be read, and records its parent and name.  Its descriptor may be
 * closed whenever it is not in use, and is opened again on demand.  All
 * functions may be called by any thread.
 */
#ifndef NILFS2_MKFS_SOURCEDIR_H
#define NILFS2_MKFS_SOURCEDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/context.h"

struct sourcedir;

/* The device a file is on, as one number: not the form of st_dev. */
static inline uint64_t sourcedir_device(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

/*
 * Opens the directory PATH as the top of a source; *ST is as statx() has it.
 * At most about MOST_OPEN descriptors are kept open, the others as many as are
 * in use; 0: a number that suits the process.
 */
int sourcedir_open_top(struct sourcedir **dirp, struct context *cx,
		       const char *path, unsigned int most_open,
		       struct statx *st);

/*
 * Opens directory NAME (LEN bytes) of PARENT: held once, not in use.  -ESTALE
 * if there is none (any more); as for all of these the text has the path.
 */
int sourcedir_open(struct sourcedir **dirp, struct context *cx,
		   struct sourcedir *parent, const char *name, size_t len,
		   struct statx *st);

struct sourcedir *sourcedir_hold(struct sourcedir *dir);
void sourcedir_put(struct sourcedir *dir);	/* NULL is accepted */

/*
 * A descriptor of DIR, open until sourcedir_unuse().  -ESTALE where another
 * directory has its place by now.
 */
int sourcedir_use(struct sourcedir *dir, struct context *cx);
void sourcedir_unuse(struct sourcedir *dir);

/*
 * A descriptor of regular file NAME in DIR for reading, to be closed.  It
 * never follows a symbolic link, nor waits for the writer of a FIFO.
 */
int sourcedir_open_file(struct sourcedir *dir, struct context *cx,
			const char *name, size_t len);

/* The same for one that uses DIR; -errno without a text. */
int sourcedir_try_file(struct sourcedir *dir, const char *name);

/* True where DIR or one above it is the directory that ST describes. */
bool sourcedir_is_below(const struct sourcedir *dir, const struct statx *st);

/*
 * The path of NAME (LEN bytes) in DIR for messages, as text, from the top's
 * path on; a path that does not fit loses its beginning.  NAME NULL: of DIR.
 */
#define SOURCEDIR_PATH_MAX 400
void sourcedir_path(const struct sourcedir *dir, const char *name, size_t len,
		    char path[SOURCEDIR_PATH_MAX]);

/* Fails with ERR: "PATH: WHAT" of NAME in DIR. */
int sourcedir_fail(const struct sourcedir *dir, struct context *cx,
		   const char *name, size_t len, int err, const char *what);

#endif
