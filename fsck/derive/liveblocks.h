/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a file of which parts are lost: those that its map still
 * leads to, and those that only the logs know.
 */
#ifndef NILFS2_FSCK_LIVEBLOCKS_H
#define NILFS2_FSCK_LIVEBLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "disk/ondisk.h"

struct liveblock {
	uint64_t blkoff;
	uint64_t vblocknr;	/* alive; 0: lost by the DAT, to be copied */
	uint64_t blocknr;	/* of the device, can be read */
	uint64_t seq;		/* of its segment; 0: the map leads to it */
	bool mapped;		/* the map leads to it */
	bool listed;		/* a log has it for this place */
	bool ended;		/* the DAT says that it was part of the file */
};

struct liveblocks {
	struct liveblock *list;	/* ascending, each offset once */
	size_t n, room;
	/* Blocks that the map names and does not lead to, ascending; the list
	   may have them all the same. */
	struct liveblocks_lost {
		uint64_t blkoff, vblocknr;
	} *lost;
	size_t nlost, lost_room;
	bool partial;		/* not all of the map could be walked */
	bool astray;		/* it has a block where the logs have another */
};

struct liveblocks_question {
	uint64_t ino;		/* not the DAT's */
	const struct nilfs_inode *inode;
	uint64_t cno;		/* as of this checkpoint; the latest: still */
	bool read;		/* see whether each block can be read */
	bool logs;		/* read the logs even if nothing is wrong */
};

/*
 * Fills L, all zero at first, with the data blocks of Q's file.  0, also where
 * much is lost; -ENOMEM, -EINTR.  liveblocks_fini() in any case.
 */
int liveblocks_gather(struct liveblocks *l, struct context *cx,
		      const struct check *c,
		      const struct liveblocks_question *q);
void liveblocks_fini(struct liveblocks *l);

/* Block BLKOFF, or NULL. */
const struct liveblock *liveblocks_find(const struct liveblocks *l,
					uint64_t blkoff);

/* Whether BLKOFF is among the lost ones. */
bool liveblocks_is_lost(const struct liveblocks *l, uint64_t blkoff);

/* True where the map itself leads to all that it names. */
static inline bool liveblocks_is_whole(const struct liveblocks *l)
{
	return !l->partial && !l->astray && !l->nlost;
}

#endif
