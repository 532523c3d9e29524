/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whose maps are to be repaired. */
#ifndef NILFS2_FSCK_MAPFILE_H
#define NILFS2_FSCK_MAPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/derive/liveblocks.h"
#include "fsck/plan/fixers.h"

struct mapfile {
	struct nilfs_inode inode;	/* as the new checkpoint has it */
	bool is_dir, is_link;
	struct liveblocks *live;	/* what the map has lost, and what there
					   is for that */
};

/* State of one repair of maps; all zero at first. */
struct mapfiles {
	struct fixer_job *job;
	uint64_t *inos;			/* ascending */
	size_t n, room;
	struct mapfile *list;		/* of these, */
	struct liveblocks *live;	/* and of these */
	uint64_t *doubted;		/* have several pointers, ascending */
	size_t ndoubted, doubted_room;
	bool logs_whole;		/* a block that lives is in some log */
};

/*
 * Gives F, which is broken, a new map in the writer's checkpoint, of what is
 * sound of the old one, what was found, and of what older checkpoints have of
 * the rest; notes what became of it, and ends the blocks that it has no longer.
 * A symbolic link whose target is lost is removed.  -ENOSPC, -ENOMEM, -EIO.
 */
int maprebuild_run(struct mapfiles *m, struct context *cx, struct mapfile *f);

/*
 * Repairs the maps of the N inodes INOS of the writer's checkpoint, which may
 * be of older ones.  Fails as maprebuild_run(), or with -ENOMEM, -EINTR.
 */
int fix_maps_of(struct fixer_job *job, struct context *cx, const uint64_t *inos,
		size_t n);

#endif
