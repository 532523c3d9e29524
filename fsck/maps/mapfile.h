/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whose maps are to be repaired. */
#ifndef NILFS2_FSCK_MAPFILE_H
#define NILFS2_FSCK_MAPFILE_H

#include "check/mapcheck.h"
#include "fsck/derive/liveblocks.h"
#include "fsck/plan/fixers.h"

/* State of a repair of maps; zeroed at first. */
struct mapfiles {
	struct fixer_job *job;
	struct numlist inos;		/* files, and for each of them */
	struct nilfs_inode *inodes;	/* its inode in the new checkpoint, */
	struct liveblocks *live;	/* its lost blocks, and the blocks
					   found for them */
	struct numlist shared_blocks;	/* blocks with several pointers */
};

/* Whether the block count of INODE is that of the map of L, of blocks of UNIT
   sectors.  A block of the root may count as one (check/inodes/pointers.c). */
static inline bool mapfile_is_counted(const struct liveblocks *l,
				      const struct nilfs_inode *inode,
				      uint64_t unit)
{
	uint64_t want = l->nmapped * unit, got = le64_get(inode->i_blocks);

	return got == want ||
	       (l->q.ino == NILFS_ROOT_INO && got == want - unit + 1);
}

/*
 * Sets the size of IS, inode INO of the checkpoints of LIFE, whose block LAST is
 * after it: the size is wrong if the log of the block has it at this place.  It
 * becomes that of the nearest checkpoint with the same map, or else the end of
 * that block.  1 if it was set, 0, -ENOMEM, -EINTR.
 */
int maprebuild_extend(struct fixer_job *job, struct context *cx, uint64_t ino,
		      struct lifetime life, uint64_t last,
		      struct nilfs_inode *is);

/*
 * Gives file I, which is broken, a new map in the writer's checkpoint, from the
 * valid parts of the old one, blocks that were found, and blocks of older
 * checkpoints.  Notes the results, and ends the blocks that are no longer used.
 * A symbolic link without its target is removed.  -ENOSPC, -ENOMEM, -EIO.
 */
int maprebuild_run(struct mapfiles *m, struct context *cx, size_t i);

/*
 * Repairs the maps of the N inodes INOS of the writer's checkpoint, which may
 * be from older ones.  Fails as maprebuild_run(), or with -ENOMEM, -EINTR.
 */
int fix_maps_of(struct fixer_job *job, struct context *cx, const uint64_t *inos,
		size_t n);

/*
 * Repairs the maps of files of snapshots that the N FIXES, of any checkpoints,
 * are about (snapmaps.c): -ENOMEM, -EINTR, -ENOSPC, -EIO, -EUCLEAN.
 */
int snapmaps_run(struct fixer_job *job, struct context *cx,
		 const struct finding *fixes, size_t n);

#endif
