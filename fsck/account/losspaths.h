/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The paths of the files in a list of losses. */
#ifndef NILFS2_FSCK_LOSSPATHS_H
#define NILFS2_FSCK_LOSSPATHS_H

#include "base/context.h"
#include "fsck/account/losslist.h"
#include "vol/volume.h"

/*
 * Sets the paths that files have after the repair, or where they have none,
 * had before.  One that there is no memory for stays NULL.  0, or -EINTR.
 */
int losspaths_find(struct losslist *l, struct context *cx,
		   struct volume *before, struct volume *after);

#endif
