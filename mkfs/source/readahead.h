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

/* What is known of a file. */
struct readahead_file {
	bool known;		/* the rest is set */
	struct statx st;
	/*
	 * Its complete content as of ST, which the user takes and sets to NULL;
	 * and its attributes as from attrlist_losses().
	 */
	struct payload *payload;
	unsigned int losses;
};

/* In a directory of fewer names nothing is read ahead. */
#define READAHEAD_LEAST 128u

/*
 * Reads for blocks of BLOCK_SIZE bytes, with CX->threads workers of its own:
 * the caller is one of them.  NOW is the time in seconds, as the clock says.
 * -ENOMEM.
 */
int readahead_open(struct readahead **rap, struct context *cx,
		   uint32_t block_size, int64_t now);

/*
 * The N NAMES of DIR, which is in use and open at DIRFD, are next.  All of it
 * is borrowed until readahead_end().
 */
void readahead_begin(struct readahead *ra, struct sourcedir *dir, int dirfd,
		     const struct populate_name *names, size_t n);

/*
 * The result for name I; to be called for each in order, from 0 on.  Names
 * before it may change.  *FILE is valid until the next call, or NULL if it was
 * not examined: for directories, and files that cannot be opened, which is not
 * a failure here; fails as pool_give().
 */
int readahead_look(struct readahead *ra, struct context *cx, size_t i,
		   struct readahead_file **file);

/*
 * Waits until no worker reads in that directory, even if not all names were
 * examined.
 */
void readahead_end(struct readahead *ra);

/* Content that was taken stays; NULL is accepted. */
void readahead_close(struct readahead *ra);

#endif
