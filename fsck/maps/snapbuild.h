/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wrong blocks of maps in snapshots, made what they must have been. */
#ifndef NILFS2_FSCK_SNAPBUILD_H
#define NILFS2_FSCK_SNAPBUILD_H

#include "base/context.h"
#include "fsck/maps/snapmaps.h"

/*
 * Finds in the logs what the holders of S must have held, writes that instead
 * of them (pastblocks.h), and tells.  One of which too little is known, or that
 * lives in the newest checkpoint, stays as it is.  -ENOMEM, -EINTR, -ENOSPC,
 * -EIO, -EUCLEAN.
 */
int snapbuild_run(struct snapmaps *s, struct context *cx);

#endif
