/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of the DAT made right: bitmaps, counts, lost blocks of entries. */
#ifndef NILFS2_FSCK_DATGROUPS_H
#define NILFS2_FSCK_DATGROUPS_H

#include "base/context.h"
#include "base/sparse.h"
#include "fsck/dat/groupfix.h"
#include "fsck/plan/fixers.h"

/*
 * Makes the groups in G right; blocks of the DAT in LOST (NULL: none) cannot be
 * read and are rebuilt.  0, or a failure that ends the repair.
 */
int fix_allocator_groups(struct fixer_job *job, struct context *cx,
		   struct groupfix *g, const struct sparse *lost);

#endif
