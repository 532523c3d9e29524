/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that older checkpoints have of what is missed. */
#ifndef NILFS2_FSCK_OLDNAMES_H
#define NILFS2_FSCK_OLDNAMES_H

#include "base/context.h"

struct namefix;

/*
 * For each directory that cannot be read whole, or loses names: looks at it in
 * older checkpoints, newest first, up to one that has it whole, and adds the
 * names of inodes that are missed.  -ENOMEM, -EINTR.
 */
int oldnames_run(struct namefix *f, struct context *cx);

/*
 * Finds entries that lead to an inode with more names than links, or to inode
 * 10, and led to one that has no name now in an older checkpoint: F->targets
 * gets them, and those that are to go, and counts of names follow.  -ENOMEM, -EINTR.
 */
int oldnames_turn(struct namefix *f, struct context *cx);

#endif
