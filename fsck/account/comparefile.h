/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One inode of one state, before and after. */
#ifndef NILFS2_FSCK_COMPAREFILE_H
#define NILFS2_FSCK_COMPAREFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/account/expected.h"
#include "fsck/account/sides.h"
#include "vol/file.h"

/*
 * Adds the blocks that a mount before the repair would have recovered, and that
 * their files do not have after it.  0, -ENOMEM, -EINTR.
 */
int comparefile_synced(struct sides *s, struct context *cx);

/*
 * Compares inode INO of STATE.  BEFORE is NULL if it could not be read, AFTER
 * if there is none.  0, -ENOMEM, -EINTR.
 */
int comparefile_run(struct sides *s, struct context *cx,
		    const struct sides_state *state, uint64_t ino,
		    const struct nilfs_inode *before,
		    const struct nilfs_inode *after);

/* A walk through inode INO of STATE, for expected_run(). */
struct expected comparefile_walk(struct sides *s,
				 const struct sides_state *state, uint64_t ino,
				 const struct nilfs_inode *inode);

/*
 * The block of FILE after the repair that stands for BLKOFF: 1 and *BLOCKNR, 0
 * for a hole, -EUCLEAN or -EIO (forgotten by CX) where it cannot be determined.
 */
int comparefile_after(struct context *cx, struct file *file, uint64_t blkoff,
		      uint64_t *blocknr);

/*
 * The block that the file had as B: what B says, or what a version says where
 * the logs contradict the DAT; 0 where there is no telling.  AFTER is what it
 * has after the repair, 0 for a hole; where that is the same, or a newer
 * version, it is what comes back.  Negative numbers are not returned: what is
 * not known is 0.
 */
uint64_t comparefile_settle(struct sides *s, struct context *cx,
			    const struct expected *e,
			    const struct expected_block *b, uint64_t after);

#endif
