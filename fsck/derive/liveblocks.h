/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of a damaged file: blocks that its map still leads to, and blocks
   that only the logs list. */
#ifndef NILFS2_FSCK_LIVEBLOCKS_H
#define NILFS2_FSCK_LIVEBLOCKS_H

#include "base/numlist.h"
#include "check/check.h"

struct liveblock {
	uint64_t blkoff;	/* first: lists are sorted by it */
	uint64_t vblocknr;	/* live; 0: its DAT entry is lost, to be copied */
	uint64_t blocknr;	/* on the device, readable */
	uint64_t seq;		/* of its segment; 0: the map leads to the block */
	uint64_t cno;		/* an older checkpoint that has it, or 0 */
	bool mapped;		/* the map leads to it */
	bool listed;		/* a log lists it for this place */
	bool ended;		/* it was part of the file according to the DAT */
	bool is_node;		/* set only in a walk */
};

struct liveblocks_question {
	uint64_t ino;		/* first: the sort key; not that of the DAT */
	const struct nilfs_inode *inode;
	uint64_t cno;		/* the checkpoint; the latest: live blocks */
	bool read;		/* check that each block can be read */
	bool logs;		/* read the logs even if nothing is wrong */
	bool missing;		/* list only blocks that the map does not lead to, */
	/* and for missing blocks: */
	uint64_t limit;		/* number of blocks by its size */
	bool dense;		/* a hole may be a lost block */
	bool is_dir;		/* its size may be lost */
	bool is_link;		/* symbolic link, for the caller */
	/* Virtual blocks that several pointers lead to; the log shows the
	   correct one. NULL: none. */
	const struct numlist *shared_blocks;
};

/* The question for the blocks of file INO with INODE at checkpoint CNO of VOL
   that its map does not lead to. */
struct liveblocks_question liveblocks_missing(const struct volume *vol,
					      uint64_t cno, uint64_t ino,
					      const struct nilfs_inode *inode,
					      const struct numlist *shared_blocks);

struct liveblocks {
	struct liveblocks_question q;	/* first: lists are sorted by it */
	struct liveblock *list;	/* ascending, each offset once */
	size_t n, room;
	/* Blocks that the map names but does not lead to, ascending; some may
	   be in the list too. */
	struct liveblock *lost;
	size_t nlost, lost_room;
	/* Only if Q requests missing blocks: ranges [BLKOFF, END) that may have
	   blocks, ascending, and live nodes. */
	struct liveblocks_gap {
		uint64_t blkoff, end;
	} *gaps;
	size_t ngaps, gaps_room;
	struct numlist nodes;
	uint64_t end;		/* one past the last sound block of the map */
	uint64_t nmapped;	/* sound blocks of the map, with nodes */
	bool partial;		/* not all of the map could be walked */
	bool misplaced;		/* the map has a block where the logs list another */

	size_t walked;		/* entries of the list from the map */
	bool asks;		/* the logs are read */
};

/* Fills L, all zero at first, with the data blocks of Q's file. 0, also if many
   blocks are lost; -ENOMEM, -EINTR. liveblocks_fini() in any case. */
int liveblocks_gather(struct liveblocks *l, struct context *cx,
		      const struct check *c,
		      const struct liveblocks_question *q);
void liveblocks_fini(struct liveblocks *l);

/* The same for N files, ascending by inode, each all zero except for Q. The
   logs are read once for all of them. */
int liveblocks_gather_all(struct liveblocks *list, size_t n, struct context *cx,
			  const struct check *c);

/* Keeps the best block of each offset, after blocks were added to the list. */
void liveblocks_settle(struct liveblocks *l);

/* Block BLKOFF, or NULL. */
const struct liveblock *liveblocks_find(const struct liveblocks *l,
					uint64_t blkoff);

/* Whether BLKOFF is one of the lost blocks. */
bool liveblocks_is_lost(const struct liveblocks *l, uint64_t blkoff);

/* Whether the map leads to all blocks that it names. */
static inline bool liveblocks_is_whole(const struct liveblocks *l)
{
	return !l->partial && !l->misplaced && !l->nlost;
}

/* Whether block BLKOFF can be one of Q's file. NEXT is one past the last sound
   block; the blocks of a directory are contiguous. */
static inline bool liveblocks_can_contain(const struct liveblocks_question *q,
					  uint64_t blkoff, uint64_t next)
{
	return blkoff < q->limit || (q->is_dir && blkoff == next);
}

enum liveblocks_verdict {
	LIVEBLOCKS_LOST,	/* no live block, or one of another file */
	LIVEBLOCKS_SHARED,	/* the correct pointer is not known */
	LIVEBLOCKS_SOUND,	/* the block belongs to this file and is live */
	LIVEBLOCKS_SKIPPED, /* the next range cannot be walked; no block */
};

typedef int liveblocks_visitor(void *arg, struct context *cx,
			       const struct liveblock *b,
		     enum liveblocks_verdict verdict);

/*
 * Calls VISIT for the blocks of the map of Q's file, in map order, with nodes.
 * 0 if the whole map was walked, 1 if not, -ENOMEM, -EINTR, or the failure of
 * VISIT.
 */
int liveblocks_walk(const struct check *c, struct context *cx,
		    const struct liveblocks_question *q,
		    liveblocks_visitor *visit, void *arg);

#endif
