/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All copies of blocks of the checkpoint file, of any age, that logs list. */
#ifndef NILFS2_FSCK_CPCOPIES_H
#define NILFS2_FSCK_CPCOPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/logs/listings.h"
#include "disk/ondisk.h"

struct cpcopies {
	const struct check *check;
	struct listing *list;	/* by block, the newest first */
	size_t n, room;
};

/* Fills COPIES, all zero at first.  -ENOMEM, -EINTR; cpcopies_fini() also
   then. */
int cpcopies_load(struct cpcopies *copies, struct context *cx,
		  const struct check *c);
void cpcopies_fini(struct cpcopies *copies);

/* Whether the newest copy of BLKOFF is the one at BLOCKNR. */
bool cpcopies_is_newest(const struct cpcopies *copies, uint64_t blkoff,
			uint64_t blocknr);

/* The newest copy of block BLKOFF that can be read, to BUF: 1, 0 where there is
   none, or a failure. */
int cpcopies_read(const struct cpcopies *copies, struct context *cx,
		  uint64_t blkoff, void *buf);

/* The checkpoint with which the copy of BLKOFF at BLOCKNR was written; 0: not
   known. */
uint64_t cpcopies_written(const struct cpcopies *copies, uint64_t blkoff,
			  uint64_t blocknr);

/*
 * The entry of CNO from the newest copy, but the one at block EXCEPT (0: any),
 * that has a sound one: 1 where it is valid there and its ifile can be followed
 * (the latest one's need not), 0 where it is deleted there or there is none, or
 * a failure.
 */
int cpcopies_entry(const struct cpcopies *copies, struct context *cx,
		   uint64_t cno, uint64_t except, struct nilfs_checkpoint *cp);

/*
 * Whether the newest copy of the entry of CNO, but the one at block EXCEPT, is
 * CP in all that never changes: 1, 0, or a failure.
 */
int cpcopies_has(const struct cpcopies *copies, struct context *cx,
		 const struct nilfs_checkpoint *cp, uint64_t cno,
		 uint64_t except);

/*
 * Whether the ifile of CP, regardless of other damage, is that of checkpoint
 * CNO with all blocks below its map: 1, 0, or a failure (-ENOMEM, -EINTR).
 */
int cpcopies_is_followable(const struct check *c, struct context *cx,
			   const struct nilfs_checkpoint *cp, uint64_t cno);

#endif
