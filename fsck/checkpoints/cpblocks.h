/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a damaged checkpoint file: which exist, what is left of each,
 * and all copies of them, of any age, that logs list; and the newest state.
 */
#ifndef NILFS2_FSCK_CPBLOCKS_H
#define NILFS2_FSCK_CPBLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/logs/listings.h"
#include "disk/checkpoint.h"
#include "disk/ondisk.h"
#include "fsck/derive/liveblocks.h"

struct cpblocks {
	const struct check *check;
	struct listing *copies;	/* by block, the newest first */
	size_t ncopies, copies_room;
	struct liveblocks live;
	uint64_t *blkoffs;	/* of the blocks that exist, ascending */
	size_t n, room;
};

/* Fills S, all zero at first, with the copies, or with everything.  -ENOMEM,
   -EINTR; cpblocks_fini() also then. */
int cpblocks_load(struct cpblocks *s, struct context *cx,
		  const struct check *c);
int cpblocks_init(struct cpblocks *s, struct context *cx,
		  const struct check *c);
void cpblocks_fini(struct cpblocks *s);

/*
 * The entry of CNO from the newest copy, but the one at block EXCEPT (0: any),
 * that has a sound one, valid or deleted; with FOLLOW the ifile of a valid one
 * can be followed (the latest one's need not): 1, 0, or a failure.
 */
int cpblocks_entry(const struct cpblocks *s, struct context *cx, uint64_t cno,
		   uint64_t except, bool follow, struct nilfs_checkpoint *cp);

/*
 * Whether the ifile of CP, regardless of other damage, is that of checkpoint
 * CNO with all blocks below its map: 1, 0, or a failure (-ENOMEM, -EINTR).
 */
int cpblocks_is_followable(const struct check *c, struct context *cx,
			   const struct nilfs_checkpoint *cp, uint64_t cno);

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
	bool newest;		/* of its copies */
	bool foreign, old;	/* it is another block, or an older version */
	uint64_t first;		/* checkpoint_first_made() */
};

/*
 * Fills B, of which BLKOFF and DATA are given; where nothing is left of the
 * block, it is one without valid entries.  -ENOMEM, -EINTR, -EIO.
 */
int cpblocks_read(const struct cpblocks *s, struct context *cx,
		  struct cpblock *b);

/* The entry of CNO in BLOCK. */
static inline struct nilfs_checkpoint *
cpblocks_at(const struct nilfs_geometry *geo, void *block, uint64_t cno)
{
	return (void *)((char *)block + checkpoint_offset(geo, cno));
}

/* The state that a repair continues from: the entry of the latest checkpoint, and
   whether the files it needs can be changed in place. */
struct cpblocks_latest {
	/*
	 * For directwriter_known.from: the entry of the latest
	 * checkpoint.  Where no copy of it is left its ifile has no map, and
	 * its counts are those of an older checkpoint.
	 */
	struct nilfs_checkpoint cp;
	/*
	 * For directwriter_known.rebuilt: cpfile and ifile if their maps do not
	 * lead to all of their blocks; and of these the ones without which no
	 * log can be written.
	 */
	unsigned int rebuilt, must;
};

/*
 * True where the DAT cannot say what is alive: its own repair comes first, and
 * nothing is said of the cpfile and the ifile until then.
 */
bool cpblocks_is_doubtful(const struct check *c);

/*
 * Finds it in the cpfile as it is, or in the logs, which are asked as well
 * whether the maps of the files DOUBTED (as in directwriter_known.rebuilt) have
 * the right blocks.  What begins again is filled by fix_checkpoints() and
 * fix_inodes(), which must run then.  -ENOMEM, -EINTR.
 */
int cpblocks_find_latest(struct cpblocks_latest *k, struct context *cx,
		  const struct check *c, unsigned int doubted);

#endif
