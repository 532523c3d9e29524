/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a directory that are missing after the repair. */
#ifndef NILFS2_FSCK_COMPAREDIR_H
#define NILFS2_FSCK_COMPAREDIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/account/sides.h"
#include "vol/file.h"

/* The names that the directory has after the repair, as sorted hashes. */
struct comparedir {
	uint64_t *names;
	size_t n, room;
	bool read;
};

/*
 * Adds the names in BLOCK, block BLKOFF of directory AFTER as it was before,
 * that are not in AFTER any more, and those in it now that replace lost ones.
 * Where BLOCK is NULL or not a block of
 * the directory the names in it are unknown, and it is the range that is added.
 * *D is all zero for the first block of a directory.  0, -ENOMEM, -EINTR.
 */
int comparedir_block(struct comparedir *d, struct sides *s, struct context *cx,
		     const struct sides_state *state, struct file *after,
		     uint64_t blkoff, const void *block);
void comparedir_fini(struct comparedir *d);

#endif
