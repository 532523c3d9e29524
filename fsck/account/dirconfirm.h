/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the names that a repair gave to a directory are those it had. */
#ifndef NILFS2_FSCK_DIRCONFIRM_H
#define NILFS2_FSCK_DIRCONFIRM_H

#include "base/context.h"
#include "fsck/account/comparedir.h"
#include "fsck/account/sides.h"
#include "vol/file.h"

/*
 * Whether each name of directory AFTER was in it in STATE before the repair:
 * read there, or shown by another version.  D has compared all its blocks.
 * 1, 0, -ENOMEM, -EINTR.
 */
int dirconfirm_run(const struct comparedir *d, struct sides *s,
		   struct context *cx, const struct sides_state *state,
		   struct file *after);

/*
 * Whether DE, in the block at BLOCKNR of directory AFTER before the repair, is a
 * name of a file that was deleted: another version has it, of a checkpoint in
 * which another file had that inode.  Uses the buffers of the sides.
 */
bool dirconfirm_is_former(struct sides *s, struct context *cx,
			  const struct sides_state *state, struct file *after,
			  uint64_t blocknr, const struct dirent_entry *de);

#endif
