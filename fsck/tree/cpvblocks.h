/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The virtual blocks that a checkpoint consists of. */
#ifndef NILFS2_FSCK_CPVBLOCKS_H
#define NILFS2_FSCK_CPVBLOCKS_H

#include "base/context.h"
#include "base/sparse.h"
#include "check/check.h"
#include "disk/ondisk.h"

/*
 * Makes SET, all zero at first, that of all that the maps of checkpoint CP
 * name: its ifile's and those of its files, nodes too.  C has looked at the
 * volume.  1, or 0 where not all of it could be followed; -ENOMEM, -EINTR.
 * sparse_fini() in any case.
 */
int cpvblocks_gather(struct sparse *set, struct context *cx,
		     const struct check *c, const struct nilfs_checkpoint *cp);

#endif
