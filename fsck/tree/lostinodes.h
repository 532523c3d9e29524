/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names and logs know of inodes that are gone. */
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
	uint64_t cno;			/* whose names were read, 0: none */
	struct pieces pieces;		/* of those inodes */
	bool listed;			/* these were gathered, */
	bool many;			/* but are too many */
};

/* Asks for the inodes of block BLKOFF of the ifile of P, which comes after
   those asked for so far.  -ENOMEM. */
int lostinodes_add(struct lostinodes *c, struct context *cx,
		   const struct palloc *p, uint64_t blkoff);

/*
 * Sets *TYPE (NILFS_FT_...) to what the entries of checkpoint CNO that can be
 * read say of INO, NILFS_FT_UNKNOWN where none names it, or it was not asked
 * for.  -ENOMEM, -EINTR.
 */
int lostinodes_type(struct lostinodes *c, struct context *cx, uint64_t cno,
		    uint64_t ino, uint8_t *type);

/*
 * Gives INODE the map of INO in checkpoint CNO, and its count of blocks, as the
 * logs know it, and sets *END to one past its last block of data: 1, 0 where
 * they know none.  -ENOMEM, -EINTR.
 */
int lostinodes_map(struct lostinodes *c, struct context *cx, uint64_t cno,
		   uint64_t ino, struct nilfs_inode *inode, uint64_t *end);

/*
 * Makes INODE one of the type that the names of INO in checkpoint CNO say, or
 * its content, with the map that it has and a size of END blocks; nothing else
 * is known of it.  1, 0 where even that is not known.  -ENOMEM, -EINTR.
 */
int lostinodes_make(struct lostinodes *c, struct context *cx, uint64_t cno,
		    uint64_t ino, struct nilfs_inode *inode, uint64_t end);

void lostinodes_fini(struct lostinodes *c);

#endif
