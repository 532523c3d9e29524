/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a block of a directory was, proved by the checksum of its log. */
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

#endif
