/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Examining many files of a directory at once, and reading the small ones,
 * before they are planned.
 */
#ifndef NILFS2_MKFS_READAHEAD_H
#define NILFS2_MKFS_READAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/context.h"
#include "log/write/payload.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/sourcedir.h"

struct readahead;

/* The result for one file. */
struct readahead_file {
	bool known;		/* the other members are set */
	struct statx st;
	/*
	 * The complete content as of ST; the user takes it and sets this to NULL.
	 * The lost attributes are those of attrlist_losses().
	 */
	struct payload *payload;
	unsigned int losses;
};

/* Minimum number of names in a directory for reading ahead. */
#define READAHEAD_LEAST 128u

/*
 * Opens a reader for blocks of BLOCK_SIZE bytes with CX->threads workers, one of which
 * is the caller.  NOW is the time in seconds.  -ENOMEM.
 */
int readahead_open(struct readahead **rap, struct context *cx,
		   uint32_t block_size, int64_t now);

/*
 * Begins to examine the N NAMES of DIR, which is in use and open at DIRFD.  All
 * arguments are borrowed until readahead_end().
 */
void readahead_begin(struct readahead *ra, struct sourcedir *dir, int dirfd,
		     const struct populate_name *names, size_t n);

/*
 * Gets the result for name I.  Must be called for each name in order, from 0 on.  The
 * names before it may be changed.  *FILE is valid until the next call.  It is NULL if
 * the name was not examined: a directory, or a file that cannot be opened, which is
 * not reported here.  Fails as pool_give().
 */
int readahead_look(struct readahead *ra, struct context *cx, size_t i,
		   struct readahead_file **file);

/*
 * Waits until no worker reads in the directory, even if not all names were examined.
 */
void readahead_end(struct readahead *ra);

/* Content that was taken remains valid.  NULL is accepted. */
void readahead_close(struct readahead *ra);

#endif
