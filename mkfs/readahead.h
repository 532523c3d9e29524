/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking at many files of a directory at once, and reading the small ones,
 * before they are planned.
 */
#ifndef NILFS2_MKFS_READAHEAD_H
#define NILFS2_MKFS_READAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/context.h"
#include "base/jobqueue.h"
#include "log/payload.h"
#include "mkfs/populate.h"
#include "mkfs/sourcedir.h"

struct readahead;

/* What is known of a file. */
struct readahead_file {
	bool known;		/* the rest is set */
	struct statx st;
	/*
	 * Its content as of ST, all of it, which whoever wants it takes and
	 * sets NULL; and its attributes as attrlist_losses() has them.
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
 * What is known of name I; to be called for each in its turn, from 0 on.  Names
 * before it may change.  *FILE is good until the next call, or NULL where
 * nobody looked: at directories, at what cannot be opened.  That is no failure
 * here; it fails as jobqueue_give().
 */
int readahead_look(struct readahead *ra, struct context *cx, size_t i,
		   struct readahead_file **file);

/* Waits until nobody reads in that directory, be all names looked at or not. */
void readahead_end(struct readahead *ra);

/* Content that was taken stays; NULL is accepted. */
void readahead_close(struct readahead *ra);

#endif
