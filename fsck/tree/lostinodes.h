/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names and logs know of inodes of the latest checkpoint that are gone. */
#ifndef NILFS2_FSCK_LOSTINODES_H
#define NILFS2_FSCK_LOSTINODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "fsck/derive/pieces.h"
#include "fsck/plan/fixers.h"

struct nametype {
	uint64_t ino;
	uint8_t type;	/* NILFS_FT_UNKNOWN: no entry names it */
};

/* All zero but for JOB: nothing is asked for. */
struct lostinodes {
	struct fixer_job *job;
	struct nametype *types;		/* ascending by number */
	size_t n, room;
	struct pieces pieces;		/* of those inodes */
	bool listed;			/* these were gathered */
};

/* Asks for the inodes of block BLKOFF of the ifile of P, which comes after
   those asked for so far.  -ENOMEM. */
int lostinodes_add(struct lostinodes *c, struct context *cx,
		   const struct palloc *p, uint64_t blkoff);

/*
 * Finds the types of all that was asked for in the entries of the latest
 * checkpoint that can be read.  -ENOMEM, -EINTR.
 */
int lostinodes_read_names(struct lostinodes *c, struct context *cx);

/* The type of INO (NILFS_FT_...), NILFS_FT_UNKNOWN if it is not known. */
uint8_t lostinodes_type(const struct lostinodes *c, uint64_t ino);

/*
 * Gives INODE the map of INO, and its count of blocks, as the logs know it, and
 * sets *END to one past its last block of data: 1, 0 where they know none.
 * -ENOMEM, -EINTR.
 */
int lostinodes_map(struct lostinodes *c, struct context *cx, uint64_t ino,
		   struct nilfs_inode *inode, uint64_t *end);

/*
 * Makes INODE one of the type that the names of INO say, or its content, with
 * the map that it has and a size of END blocks; nothing else is known of it.
 * 1, 0 where even that is not known.  -ENOMEM, -EINTR.
 */
int lostinodes_make(const struct lostinodes *c, struct context *cx,
		    uint64_t ino, struct nilfs_inode *inode, uint64_t end);

void lostinodes_fini(struct lostinodes *c);

#endif
