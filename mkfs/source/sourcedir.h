/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directories of a source, with a limited number of open descriptors.
 *
 * A directory is held by the walk, by its subdirectories and by files that must still
 * be read.  It records its parent and name.  Its descriptor may be closed whenever it
 * is not in use, and is opened again on demand.  All functions may be called by any
 * thread.
 */
#ifndef NILFS2_MKFS_SOURCEDIR_H
#define NILFS2_MKFS_SOURCEDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/context.h"

struct sourcedir;

/* The device of a file as one number; the encoding is not that of st_dev. */
static inline uint64_t sourcedir_device(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

/*
 * Opens the directory PATH as the top of a source; *ST is the result of statx().  About
 * MOST_OPEN descriptors are kept open, more only while they are in use; 0: a number
 * that suits the limits of the process.
 */
int sourcedir_open_top(struct sourcedir **dirp, struct context *cx,
		       const char *path, unsigned int most_open,
		       struct statx *st);

/*
 * Opens directory NAME (LEN bytes) of PARENT: held once, not in use.  -ESTALE if there
 * is no such directory (any more).  The failure text of all these functions contains
 * the path.
 */
int sourcedir_open(struct sourcedir **dirp, struct context *cx,
		   struct sourcedir *parent, const char *name, size_t len,
		   struct statx *st);

struct sourcedir *sourcedir_hold(struct sourcedir *dir);
void sourcedir_put(struct sourcedir *dir);	/* NULL is accepted */

/*
 * Returns a descriptor of DIR, open until sourcedir_unuse().  -ESTALE if another
 * directory has replaced it.
 */
int sourcedir_use(struct sourcedir *dir, struct context *cx);
void sourcedir_unuse(struct sourcedir *dir);

/*
 * Opens regular file NAME in DIR for reading; the caller closes the descriptor.  Never
 * follows a symbolic link, and does not wait for the writer of a FIFO.
 */
int sourcedir_open_file(struct sourcedir *dir, struct context *cx,
			const char *name, size_t len);

/* The same while DIR is in use by the caller; -errno without a text. */
int sourcedir_try_file(struct sourcedir *dir, const char *name);

/* True if DIR or one of its ancestors is the directory described by ST. */
bool sourcedir_is_below(const struct sourcedir *dir, const struct statx *st);

/*
 * The path of NAME (LEN bytes; NULL: of DIR) for messages, beginning with the top's
 * path.  A path that does not fit loses its beginning.
 */
#define SOURCEDIR_PATH_MAX 400
void sourcedir_path(const struct sourcedir *dir, const char *name, size_t len,
		    char path[SOURCEDIR_PATH_MAX]);

/* Fails with ERR and the text "PATH: WHAT" for NAME in DIR. */
int sourcedir_fail(const struct sourcedir *dir, struct context *cx,
		   const char *name, size_t len, int err, const char *what);

#endif
