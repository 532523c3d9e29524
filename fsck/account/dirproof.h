/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What proves the names of a directory: checksums of logs, and times of inodes. */
#ifndef NILFS2_FSCK_DIRPROOF_H
#define NILFS2_FSCK_DIRPROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/account/comparedir.h"
#include "fsck/account/sides.h"
#include "vol/file.h"

/*
 * Finds what block BLKOFF of directory AFTER, at BLOCKNR before the repair, was
 * written as: its content after the repair, or an older version without the
 * names that D, the names after the repair, does not have.  Borrowed until the
 * buffers of the sides are used again; NULL where no checksum proves one.
 */
const void *dirproof_find(const struct comparedir *d, struct sides *s,
			  struct context *cx, struct file *after,
			  uint64_t blkoff, uint64_t blocknr);

/*
 * Fills the room after the last entry of BLOCK, SIZE bytes, with zeros, as it is
 * where no entry was ever there.  False where BLOCK is not one of a directory.
 */
bool dirproof_clear_rest(void *block, uint32_t size);

/*
 * Whether each name of directory AFTER was in it in STATE before the repair:
 * read there, or shown by another version.  D has compared all its blocks.
 * 1, 0, -ENOMEM, -EINTR.
 */
int dirproof_confirm(const struct comparedir *d, struct sides *s,
		     struct context *cx, const struct sides_state *state,
		     struct file *after);

/*
 * Whether DE, in the block at BLOCKNR of directory AFTER before the repair, is a
 * name of a file that was deleted: another version has it, of a checkpoint in
 * which another file had that inode.  Uses the buffers of the sides.
 */
bool dirproof_is_former(struct sides *s, struct context *cx,
			const struct sides_state *state, struct file *after,
			uint64_t blocknr, const struct dirent_entry *de);

#endif
