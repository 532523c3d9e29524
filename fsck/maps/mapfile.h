/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whose maps are to be repaired. */
#ifndef NILFS2_FSCK_MAPFILE_H
#define NILFS2_FSCK_MAPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "base/numlist.h"
#include "fsck/derive/liveblocks.h"
#include "fsck/plan/fixers.h"

/* State of one repair of maps; all zero at first. */
struct mapfiles {
	struct fixer_job *job;
	struct numlist inos;		/* files, and of each of them */
	struct nilfs_inode *inodes;	/* as the new checkpoint has it, */
	struct liveblocks *live;	/* what the map has lost, and what there
					   is for that */
	struct numlist doubted;		/* blocks with several pointers */
};

/*
 * Gives file I, which is broken, a new map in the writer's checkpoint, of what
 * is sound of the old one, what was found, and of what older checkpoints have
 * of the rest; notes what became of it, and ends the blocks that it has no
 * longer. A symbolic link whose target is lost is removed.  -ENOSPC, -ENOMEM,
 * -EIO.
 */
int maprebuild_run(struct mapfiles *m, struct context *cx, size_t i);

/*
 * Repairs the maps of the N inodes INOS of the writer's checkpoint, which may
 * be of older ones.  Fails as maprebuild_run(), or with -ENOMEM, -EINTR.
 */
int fix_maps_of(struct fixer_job *job, struct context *cx, const uint64_t *inos,
		size_t n);

#endif
