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
	/* By block of the DAT: allocated numbers that no log lists yet. */
	struct tally waiting;
	struct tally given;	/* freed numbers, by block of the DAT */
};

/* Allocates up to WANT consecutive numbers (numbers_take()). */
int dattable_take(struct dattable *t, struct context *cx, uint32_t want,
		  uint64_t *first, uint32_t *count);

/*
 * COUNT numbers from FIRST on are listed in a log (SIGN -1), so that their place
 * will come, or are taken again (1).  A block of the DAT for which `waiting` is 0
 * has no others.
 */
int dattable_count_waiting(struct dattable *t, struct context *cx,
			   uint64_t first, uint32_t count, int sign);

/* Makes the blocks of these entries dirty. */
int dattable_touch(struct dattable *t, struct context *cx, uint64_t first,
		   uint32_t count);

/*
 * Enters the positions of COUNT numbers from FIRST on: BLOCKNR and the
 * following blocks (nilfs_dat_commit_start()).  They are valid from this
 * checkpoint on, except those of dattable_succeed().  With MOVED their blocks,
 * live or not, come from elsewhere and stay valid as long as they were
 * (nilfs_dat_move()): -EUCLEAN if an entry has no block.
 */
int dattable_place(struct dattable *t, struct context *cx, uint64_t first,
		   uint32_t count, uint64_t blocknr, bool moved);

/*
 * Frees VBLOCKNR, which has ended.  -EUCLEAN if it has not.  Follows
 * nilfs_dat_freev().
 */
int dattable_free(struct dattable *t, struct context *cx, uint64_t vblocknr);

/*
 * Ends the lifetime of these blocks of a file of KIND (nilfs_dat_commit_end()).
 * -EUCLEAN if an entry ended before.
 */
int dattable_end(struct dattable *t, struct context *cx, uint64_t first,
		 uint64_t count, enum metafile_kind kind);

/*
 * Makes VBLOCKNR, which has a block, valid until END (NILFS_CNO_MAX: live),
 * regardless of its old end: for a rollback to an older state.
 */
int dattable_set_end(struct dattable *t, struct context *cx, uint64_t vblocknr,
		     uint64_t end);

/* Allocates *NUMBER for a new block of the checkpoints in [START, END), which
   are older than the new one.  -ENOSPC, -ENOMEM. */
int dattable_add_ended(struct dattable *t, struct context *cx, uint64_t start,
		       uint64_t end, uint64_t *number);

/*
 * Allocates the number *NEXT for a block that replaces VBLOCKNR in every
 * checkpoint that contains it: its entry has the same start, *START, and the
 * same end.  VBLOCKNR then ends with the checkpoint that it was written for.
 * -EUCLEAN if VBLOCKNR is live now, or never was.
 */
int dattable_succeed(struct dattable *t, struct context *cx,
		     uint64_t vblocknr, uint64_t *next, uint64_t *start);

/*
 * Makes holes of DAT blocks in which numbers were freed and no number is in use
 * (nilfs_palloc_freev()).  None of these blocks may be collected.
 */
int dattable_make_holes(struct dattable *t, struct context *cx);

/* True if a snapshot is in [START, END). */
bool dattable_has_snapshot(const struct dattable *t, uint64_t start,
			   uint64_t end);

/* Copies the entry of VBLOCKNR; -EUCLEAN if the DAT has no block for it. */
int dattable_read(struct dattable *t, struct context *cx, uint64_t vblocknr,
		  struct nilfs_dat_entry *de);

void dattable_fini(struct dattable *t);

#endif
