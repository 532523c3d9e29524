/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of snapshots, repaired block by block. */
#ifndef NILFS2_FSCK_PASTNAMES_H
#define NILFS2_FSCK_PASTNAMES_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/past/pastblocks.h"

/*
 * Puts in P, which is empty, what blocks of directories of snapshots are to be,
 * and notes it: first entries that lead to a wrong inode, by the inodes that
 * FIXES say have lost a name or have one too many; if there are none, the
 * blocks that FIXES name; or else the roots, wherever there is room, for inodes
 * without a name that nothing else is wrong with, also of snapshots that share
 * these.  Nothing is written.  -ENOMEM, -EINTR.
 */
int pastnames_repair(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n);

/*
 * Likewise puts in P directories without the names of inodes that FIXES say
 * have too many: those in blocks that are older versions, if there are as many.
 */
int pastnames_remove(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n);

#endif
