/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that change place under the files that have them.
 *
 * This is what a cleaner does: the DAT says where a block is now, the maps of
 * files and snapshots stay as they are.  A segment whose living blocks have all
 * left, and whose dead ones have given their numbers back, is clean.
 *
 * A virtual number is listed in one segment only: the kernel's cleaner refuses
 * to clean two that list the same one together (-EEXIST, nilfs_ioctl_move_
 * inode_block()).  So either all blocks of a segment are moved or forgotten,
 * and it is freed, or none is.
 *
 * The writer is one of repairwriter_open(), told not to take the segments that
 * become free, which the state before still needs: they are free for the next
 * one.
 */
#ifndef NILFS2_LOG_MOVE_H
#define NILFS2_LOG_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "log/payload.h"
#include "log/tally.h"
#include "log/writer.h"

/* COUNT blocks with consecutive numbers, as a log lists them. */
struct move_run {
	uint64_t ino, cno;	/* fi_ino, fi_cno: as listed before */
	bool node;		/* of a B-tree; BLKOFF has no meaning */
	uint64_t vblocknr, blkoff;
	uint32_t count;
};

/*
 * Takes the lowest clean segments from now on, instead of the next one behind
 * the one taken last: what is written comes to lie at the front.
 */
void move_to_front(struct writer *w);

/*
 * The blocks of RUN, which are PAYLOAD's from AT on, come next in the logs.
 * -ENOSPC; -EUCLEAN where the DAT has no place for one of them; or what an
 * earlier payload failed with.
 */
int move_blocks(struct writer *w, struct context *cx,
		const struct move_run *run, struct payload *payload,
		uint64_t at);

/*
 * The same for a block of the DAT, the cpfile or the SUFILE (INO), which are
 * rewritten by the commit: of LEVEL (0: data) at KEY, the offset of the
 * first data block below it.  -EUCLEAN where there is none.
 */
int move_metadata(struct writer *w, struct context *cx, uint64_t ino,
		  unsigned int level, uint64_t key);

/*
 * Nothing needs the block of VBLOCKNR, which has ended: the number is free
 * (nilfs_dat_freev()).  -EUCLEAN where it has not ended or is free.
 */
int move_forget(struct writer *w, struct context *cx, uint64_t vblocknr);

/*
 * Blocks of the DAT (by their offsets, borrowed) where no number is taken from
 * now on.
 */
void move_avoid(struct writer *w, const struct tally *blocks);

/*
 * The block of VBLOCKNR is going to be moved as *NEXT: it has the same life
 * under that number, and VBLOCKNR is free.  Whatever leads to it has to be
 * moved as well, with the new number in it.  -EUCLEAN where there is no such
 * block.
 */
int move_renumber(struct writer *w, struct context *cx, uint64_t vblocknr,
		  uint64_t *next);

/* SEGNUM, which nothing lives in any more, is clean (nilfs_sufile_freev()). */
int move_free(struct writer *w, struct context *cx, uint64_t segnum);

/*
 * Nor does anything live in SEGNUM, but the state before needs it: it is in use
 * without blocks, for a cleaner to free.
 */
int move_scrap(struct writer *w, struct context *cx, uint64_t segnum);

/* SEGNUM stays as it is, and is neither written to nor freed any more. */
int move_condemn(struct writer *w, struct context *cx, uint64_t segnum);

#endif
