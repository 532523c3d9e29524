/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of snapshots, repaired block by block. */
#ifndef NILFS2_FSCK_PASTNAMES_H
#define NILFS2_FSCK_PASTNAMES_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/past/pastblocks.h"

/*
 * Puts in P what the blocks of directories that FIXES name, those of snapshots,
 * are to be, and notes it.  Nothing is written.  -ENOMEM, -EINTR.
 */
int pastnames_repair(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n);

/*
 * The same for entries of snapshots that lead to a wrong inode: FIXES name the
 * inodes that have lost a name and those that have one too many.  Notes what
 * is repaired.  -ENOMEM, -EINTR.
 */
int pastnames_retarget(struct pastblocks *p, struct context *cx,
		       const struct fix *fixes, size_t n);

/*
 * The same for inodes of snapshots that FIXES say have no name, and that
 * nothing else is wrong with: the root gets names for them.  -ENOMEM, -EINTR.
 */
int pastnames_number(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n);

#endif
