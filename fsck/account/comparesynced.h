/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fsync() had written behind the latest super root, before and after. */
#ifndef NILFS2_FSCK_COMPARESYNCED_H
#define NILFS2_FSCK_COMPARESYNCED_H

#include <stdbool.h>

#include "base/context.h"
#include "fsck/account/sides.h"

/* Whether a mount before the repair would have written block BLKOFF of inode
   INO of the latest state. */
bool comparesynced_has(const struct sides *s, uint64_t ino, uint64_t blkoff);

/*
 * Adds the blocks that a mount before the repair would have brought into their
 * files, and that these have not after it.  0, -ENOMEM, -EINTR.
 */
int comparesynced_run(struct sides *s, struct context *cx);

#endif
