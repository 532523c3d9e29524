/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a damaged checkpoint file: which exist, the remaining content
 * of each, and all copies that logs list, of any age; and the newest state.
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
	uint64_t *blkoffs;	/* blocks that exist, ascending */
	size_t n, room;
};

/* Fills S, zeroed at first, with the copies only, or with everything.  -ENOMEM,
   -EINTR; call cpblocks_fini() also then. */
int cpblocks_load(struct cpblocks *s, struct context *cx,
		  const struct check *c);
int cpblocks_init(struct cpblocks *s, struct context *cx,
		  const struct check *c);
void cpblocks_fini(struct cpblocks *s);

/*
 * Gets the entry of CNO, valid or deleted, from the newest copy with a valid
 * one, except that at block EXCEPT (0: none).  With FOLLOW, the ifile of a
 * valid entry must be followable (except for the latest): 1, 0, or a failure.
 */
int cpblocks_entry(const struct cpblocks *s, struct context *cx, uint64_t cno,
		   uint64_t except, bool follow, struct nilfs_checkpoint *cp);

/*
 * Whether the ifile of CP, regardless of other damage, is that of checkpoint
 * CNO and has all blocks of its map: 1, 0, or a failure (-ENOMEM, -EINTR).
 */
int cpblocks_is_followable(const struct check *c, struct context *cx,
			   const struct nilfs_checkpoint *cp, uint64_t cno);

/* Origin of the content of a block. */
enum cpblocks_origin {
	CPBLOCKS_MAPPED,	/* the map leads to it */
	CPBLOCKS_FOUND,		/* live, but only known from the logs */
	CPBLOCKS_OLD,		/* an older copy, or nothing */
};

struct cpblock {
	uint64_t blkoff;
	void *data;		/* buffer of the caller, a block */
	enum cpblocks_origin origin;
	uint64_t vblocknr;	/* virtual block if the content is live, or 0 */
	uint64_t blocknr;	/* place it was read from; 0: an older copy */
	uint64_t written;	/* checkpoint that wrote it; 0: unknown */
	bool newest;		/* it is the newest copy */
	bool foreign, old;	/* it is another block, or an older version */
	uint64_t first;		/* checkpoint_first_made() */
};

/*
 * Fills B, whose BLKOFF and DATA are set.  If nothing is left of the block, it
 * gets no valid entries.  -ENOMEM, -EINTR, -EIO.
 */
int cpblocks_read(const struct cpblocks *s, struct context *cx,
		  struct cpblock *b);

/* The entry of CNO in BLOCK. */
static inline struct nilfs_checkpoint *
cpblocks_at(const struct nilfs_geometry *geo, void *block, uint64_t cno)
{
	return (void *)((char *)block + checkpoint_offset(geo, cno));
}

/* The state that a repair continues from: the entry of the latest checkpoint,
   and whether the files that it needs can be changed in place. */
struct cpblocks_latest {
	/*
	 * For directwriter_known.from: the entry of the latest checkpoint.  If
	 * no copy of it exists, its ifile has no map, and its counts are those
	 * of an older checkpoint.
	 */
	struct nilfs_checkpoint cp;
	/*
	 * For directwriter_known.rebuilt: cpfile and ifile if their maps do not
	 * lead to all of their blocks; MUST has those without which no log can
	 * be written.
	 */
	unsigned int rebuilt, must;
};

/*
 * Whether the DAT cannot show which blocks are live.  Then it is repaired
 * first, and the cpfile and the ifile are not judged until then.
 */
bool cpblocks_is_doubtful(const struct check *c);

/*
 * Finds the latest state in the cpfile, or in the logs, which also show whether
 * the maps of the files DOUBTED (as in directwriter_known.rebuilt) have the
 * right blocks.  Files to be rebuilt are filled by fix_checkpoints() and
 * fix_inodes(), which must run then.  -ENOMEM, -EINTR.
 */
int cpblocks_find_latest(struct cpblocks_latest *k, struct context *cx,
		  const struct check *c, unsigned int doubted);

#endif
