/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two checkpoints have the same names. */
#ifndef NILFS2_FSCK_SAMENAMES_H
#define NILFS2_FSCK_SAMENAMES_H

#include "base/context.h"
#include "vol/root.h"

/*
 * 1 where A and B have the same inodes, with the same types, links and
 * directories, so that names and links agree in both or in neither; 0 where
 * they may not, or where that cannot be read.  -ENOMEM, -EINTR.
 */
int samenames_check(struct context *cx, const struct root *a,
		    const struct root *b);

#endif
