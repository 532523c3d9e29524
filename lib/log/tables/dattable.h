/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Virtual block numbers and their entries in the DAT, as a writer changes them:
 * allocated for a new block of a file, given a position when the block has one,
 * ended when the file drops the block.
 */
#ifndef NILFS2_LOG_DATTABLE_H
#define NILFS2_LOG_DATTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "log/meta/metafile.h"
#include "log/tables/numbers.h"
#include "log/tables/segments.h"
#include "log/tables/tally.h"

struct dattable {
	struct metafile *m;		/* the DAT, borrowed */
	struct numbers numbers;
	struct segments *segments;	/* borrowed */
	uint64_t cno;
	bool aged;	/* entries may be left from a former use */
	uint64_t *snapshots;		/* ascending */
	size_t nsnapshots;
	/* By block of the DAT: numbers taken that are in no log yet. */
	struct tally waiting;
	struct tally given;	/* numbers given back, in the same way */
};

/* Allocates up to WANT consecutive numbers (numbers_take()). */
int dattable_take(struct dattable *t, struct context *cx, uint32_t want,
		  uint64_t *first, uint32_t *count);

/* COUNT numbers from FIRST on are listed in a log: their place will come. */
int dattable_listed(struct dattable *t, struct context *cx, uint64_t first,
		    uint32_t count);

/* True where every number of block BLKOFF of the DAT is listed. */
bool dattable_is_complete(const struct dattable *t, uint64_t blkoff);

/* Makes the blocks of these entries dirty. */
int dattable_touch(struct dattable *t, struct context *cx, uint64_t first,
		   uint32_t count);

/*
 * Enters the positions of COUNT numbers from FIRST on: BLOCKNR and the
 * following blocks (nilfs_dat_commit_start()).  They are valid from this
 * checkpoint on, except those of dattable_succeed().
 */
int dattable_place(struct dattable *t, struct context *cx, uint64_t first,
		   uint32_t count, uint64_t blocknr);

/*
 * Moves the blocks of COUNT numbers from FIRST on, live or not, to BLOCKNR and
 * the following blocks.  -EUCLEAN if an entry has no block.  Follows
 * nilfs_dat_move().
 */
int dattable_move(struct dattable *t, struct context *cx, uint64_t first,
		  uint32_t count, uint64_t blocknr);

/*
 * Frees VBLOCKNR, which has ended.  -EUCLEAN if it has not.  Follows
 * nilfs_dat_freev().
 */
int dattable_free(struct dattable *t, struct context *cx, uint64_t vblocknr);

/*
 * These blocks, of a file of KIND, are not part of it any more
 * (nilfs_dat_commit_end()).  -EUCLEAN where an entry ended before.
 */
int dattable_end(struct dattable *t, struct context *cx, uint64_t first,
		 uint64_t count, enum metafile_kind kind);

/*
 * VBLOCKNR, which has a block, is valid until END, NILFS_CNO_MAX for a live one,
 * whatever it was before: for a state that goes back to an older one.
 */
int dattable_set_end(struct dattable *t, struct context *cx, uint64_t vblocknr,
		     uint64_t end);

/*
 * Allocates the number *NEXT for a block that replaces VBLOCKNR in every
 * checkpoint that has it: its entry has the same start, *START, and the same
 * end.  VBLOCKNR then ended with the checkpoint that it was written for.
 * -EUCLEAN if VBLOCKNR is live now, or never was.
 */
int dattable_succeed(struct dattable *t, struct context *cx,
		     uint64_t vblocknr, uint64_t *next, uint64_t *start);

/*
 * Makes holes of the blocks of the DAT in which numbers were freed and none is
 * in use any more (nilfs_palloc_freev()).  None of them may be collected.
 */
int dattable_make_holes(struct dattable *t, struct context *cx);

/* True where some snapshot is in [START, END). */
bool dattable_has_snapshot(const struct dattable *t, uint64_t start,
			   uint64_t end);

/* Copies the entry of VBLOCKNR; -EUCLEAN where the DAT has no block for it. */
int dattable_read(struct dattable *t, struct context *cx, uint64_t vblocknr,
		  struct nilfs_dat_entry *de);

void dattable_fini(struct dattable *t);

#endif
