/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a damaged checkpoint file: which exist, what is left of each,
 * and all copies of them, of any age, that logs list.
 */
#ifndef NILFS2_FSCK_CPBLOCKS_H
#define NILFS2_FSCK_CPBLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/logs/listings.h"
#include "disk/ondisk.h"
#include "fsck/derive/liveblocks.h"

struct cpcopies {
	const struct check *check;
	struct listing *list;	/* by block, the newest first */
	size_t n, room;
};

/* Fills COPIES, all zero at first.  -ENOMEM, -EINTR; cpblocks_drop() also
   then. */
int cpblocks_load(struct cpcopies *copies, struct context *cx,
		  const struct check *c);
void cpblocks_drop(struct cpcopies *copies);

/* Whether the newest copy of BLKOFF is the one at BLOCKNR. */
bool cpblocks_is_newest(const struct cpcopies *copies, uint64_t blkoff,
			uint64_t blocknr);

/*
 * The entry of CNO from the newest copy, but the one at block EXCEPT (0: any),
 * that has a sound one: 1 where it is valid there and its ifile can be followed
 * (the latest one's need not), 0 where it is deleted there or there is none, or
 * a failure.
 */
int cpblocks_entry(const struct cpcopies *copies, struct context *cx,
		   uint64_t cno, uint64_t except, struct nilfs_checkpoint *cp);

/*
 * Whether the newest copy of the entry of CNO, but the one at block EXCEPT, is
 * CP in all that never changes: 1, 0, or a failure.
 */
int cpblocks_has(const struct cpcopies *copies, struct context *cx,
		 const struct nilfs_checkpoint *cp, uint64_t cno,
		 uint64_t except);

/*
 * Whether the ifile of CP, regardless of other damage, is that of checkpoint
 * CNO with all blocks below its map: 1, 0, or a failure (-ENOMEM, -EINTR).
 */
int cpblocks_is_followable(const struct check *c, struct context *cx,
			   const struct nilfs_checkpoint *cp, uint64_t cno);

struct cpblocks {
	const struct check *check;
	struct cpcopies copies;
	struct liveblocks live;
	uint64_t *blkoffs;	/* ascending */
	size_t n, room;
};

/* Gathers them; S is all zero.  -ENOMEM, -EINTR; cpblocks_fini() also then. */
int cpblocks_init(struct cpblocks *s, struct context *cx,
		  const struct check *c);
void cpblocks_fini(struct cpblocks *s);

/* How a block came to have its content. */
enum cpblocks_origin {
	CPBLOCKS_MAPPED,	/* the map leads to it */
	CPBLOCKS_FOUND,		/* alive, but only the logs know it */
	CPBLOCKS_OLD,		/* an older copy, or nothing */
};

struct cpblock {
	uint64_t blkoff;
	void *data;		/* the caller's, a block */
	enum cpblocks_origin origin;
	uint64_t vblocknr;	/* where that content is alive, or 0 */
	uint64_t blocknr;	/* where it was read; 0: an older copy */
	uint64_t written;	/* with this checkpoint; 0: not known */
};

/*
 * Fills B, of which BLKOFF and DATA are given; where nothing is left of the
 * block, it is one without valid entries.  -ENOMEM, -EINTR, -EIO.
 */
int cpblocks_read(const struct cpblocks *s, struct context *cx,
		  struct cpblock *b);

#endif
