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
#include "base/numlist.h"
#include "check/check.h"
#include "disk/ondisk.h"

struct liveblock {
	uint64_t blkoff;	/* first: lists are sorted by it */
	uint64_t vblocknr;	/* alive; 0: lost by the DAT, to be copied */
	uint64_t blocknr;	/* of the device, can be read */
	uint64_t seq;		/* of its segment; 0: the map leads to it */
	uint64_t cno;		/* an older checkpoint that has it, or 0 */
	bool mapped;		/* the map leads to it */
	bool listed;		/* a log has it for this place */
	bool ended;		/* the DAT says that it was part of the file */
	bool is_node;		/* only in a walk */
};

struct liveblocks_question {
	uint64_t ino;		/* first; not the DAT's */
	const struct nilfs_inode *inode;
	uint64_t cno;		/* as of this checkpoint; the latest: still */
	bool read;		/* see whether each block can be read */
	bool logs;		/* read the logs even if nothing is wrong */
	bool missing;		/* list only what the map does not lead to, */
	/* and of what is missing: */
	uint64_t limit;		/* blocks that its size makes room for */
	bool dense;		/* a hole may be a lost block */
	bool is_dir;		/* it may have lost its size */
	bool is_link;		/* symbolic, for the caller */
	/* Virtual blocks to which several pointers lead: the log says which is
	   right.  NULL: none. */
	const struct numlist *doubted;
};

struct liveblocks {
	struct liveblocks_question q;	/* first: lists are sorted by it */
	struct liveblock *list;	/* ascending, each offset once */
	size_t n, room;
	/* Blocks that the map names and does not lead to, ascending; the list
	   may have them all the same. */
	struct liveblock *lost;
	size_t nlost, lost_room;
	/* The rest only where Q asks for what is missing: where there may be
	   blocks [BLKOFF, END), ascending, and nodes that live. */
	struct liveblocks_gap {
		uint64_t blkoff, end;
	} *gaps;
	size_t ngaps, gaps_room;
	struct numlist nodes;
	uint64_t end;		/* one past the last sound block of the map */
	uint64_t nmapped;	/* sound blocks of the map, nodes too */
	bool partial;		/* not all of the map could be walked */
	bool astray;		/* it has a block where the logs have another */

	size_t walked;		/* entries of the list that the map gave */
	bool asks;		/* the logs are asked */
};

/*
 * Fills L, all zero at first, with the data blocks of Q's file.  0, also where
 * much is lost; -ENOMEM, -EINTR.  liveblocks_fini() in any case.
 */
int liveblocks_gather(struct liveblocks *l, struct context *cx,
		      const struct check *c,
		      const struct liveblocks_question *q);
void liveblocks_fini(struct liveblocks *l);

/* The same for N files, each all zero but for Q, ascending by inode: the logs
   are read once for all of them. */
int liveblocks_gather_all(struct liveblocks *list, size_t n, struct context *cx,
			  const struct check *c);

/* After blocks were added to the list: leaves the best one of each offset. */
void liveblocks_settle(struct liveblocks *l);

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

/* Whether block BLKOFF can be one of Q's file, NEXT being one past the last
   sound one: blocks of a directory follow one another. */
static inline bool liveblocks_takes(const struct liveblocks_question *q,
				    uint64_t blkoff, uint64_t next)
{
	return blkoff < q->limit || (q->is_dir && blkoff == next);
}

enum liveblocks_worth {
	LIVEBLOCKS_LOST,	/* nothing is there that lives, or another's */
	LIVEBLOCKS_SHARED,	/* it is unknown which pointer is right */
	LIVEBLOCKS_SOUND,	/* the block is this file's and lives */
	LIVEBLOCKS_SKIPPED, /* what comes next cannot be walked; no block */
};

typedef int liveblocks_visitor(void *arg, struct context *cx,
			       const struct liveblock *b,
		     enum liveblocks_worth worth);

/*
 * Calls VISIT for what the map of Q's file has, in its order, nodes too.  0
 * where the whole map was walked, 1 where it was not, -ENOMEM, -EINTR, or what
 * VISIT failed with.
 */
int liveblocks_walk(const struct check *c, struct context *cx,
		    const struct liveblocks_question *q,
		    liveblocks_visitor *visit, void *arg);

#endif
