/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moving blocks without changing the files that contain them.
 *
 * This is the work of a cleaner: DAT entries change, maps of files and
 * snapshots do not.  A segment is clean once its live blocks are moved and the
 * numbers of its dead blocks are freed.
 *
 * A virtual number is listed in one segment only: the kernel's cleaner refuses
 * to clean two segments together that list the same one (-EEXIST,
 * nilfs_ioctl_move_inode_block()).  So either all blocks of a segment are moved
 * or forgotten, and it is freed, or none is.
 *
 * The writer is one of directwriter_open(), with options that prevent it from
 * reusing the freed segments, which the previous state still needs: the next
 * writer may.
 */
#ifndef NILFS2_LOG_MOVE_H
#define NILFS2_LOG_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "log/tables/segments.h"
#include "log/write/payload.h"
#include "log/writer.h"

/* COUNT blocks with consecutive numbers, as a log lists them. */
struct move_run {
	uint64_t ino, cno;	/* fi_ino, fi_cno: unchanged */
	bool node;		/* of a B-tree; BLKOFF is unused */
	uint64_t vblocknr, blkoff;
	uint32_t count;
};

/*
 * Lists the blocks of RUN, which are those of PAYLOAD from AT on, in the next
 * logs.  -ENOSPC; -EUCLEAN if the DAT has no block for one of them; or the
 * failure of an earlier payload.
 */
int move_blocks(struct writer *w, struct context *cx,
		const struct move_run *run, struct payload *payload,
		uint64_t at);

/*
 * Marks a block of the DAT, the cpfile or the SUFILE (INO) to be rewritten by
 * the commit: of LEVEL (0: data) at KEY, the offset of the first data block
 * below it.  -EUCLEAN if there is none.
 */
int move_metadata(struct writer *w, struct context *cx, uint64_t ino,
		  unsigned int level, uint64_t key);

/*
 * Frees the number VBLOCKNR of a dead block (nilfs_dat_freev()).  -EUCLEAN if
 * it has not ended or is free.
 */
int move_forget(struct writer *w, struct context *cx, uint64_t vblocknr);

/*
 * Sets the state of SEGNUM: SEGMENTS_CLEAN or SEGMENTS_SCRAPPED, of one without live
 * blocks, or SEGMENTS_ERROR.
 */
int move_set_segment(struct writer *w, struct context *cx, uint64_t segnum,
		     enum segments_state state);

#endif
