/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The new map of a file, from what is sound of the old one and what was found. */
#ifndef NILFS2_FSCK_MAPREBUILD_H
#define NILFS2_FSCK_MAPREBUILD_H

#include "base/context.h"
#include "fsck/maps/mapfile.h"

/*
 * Gives F, which is broken, a new map in the writer's checkpoint, notes what
 * became of it, and ends the blocks that it has no longer.  A symbolic link
 * whose target is lost is removed.  -ENOSPC, -ENOMEM, -EIO.
 */
int maprebuild_run(struct mapfiles *m, struct context *cx, struct mapfile *f);

#endif
