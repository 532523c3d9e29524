/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whose maps are to be repaired. */
#ifndef NILFS2_FSCK_MAPFILE_H
#define NILFS2_FSCK_MAPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/maps/contested.h"
#include "fsck/maps/mapfound.h"
#include "fsck/maps/maploss.h"
#include "fsck/maps/mapsift.h"
#include "fsck/plan/fixers.h"

struct mapfile {
	uint64_t ino;
	struct nilfs_inode inode;	/* as the new checkpoint has it */
	uint64_t limit;			/* blocks that its size makes room for */
	uint64_t blocks;		/* sound ones, nodes among them */
	bool is_dir, is_link;
	bool broken;			/* its map must be rebuilt */
	bool doubtful;			/* it says that it has more blocks */
};

/* All that one repair of maps knows; all zero at first. */
struct mapfiles {
	struct fixer_job *job;
	struct mapfile *list;		/* by number, ascending */
	size_t n, room;
	struct contested contested;
	struct maploss loss;
	struct mapfound found;
	struct mapfound nodes;		/* that live, their number as BLKOFF */
	bool logs_whole;		/* a block that lives is in some log */
};

/* Adds inode INO; mapfile_settle() comes before any question.  -ENOMEM. */
int mapfile_add(struct mapfiles *m, struct context *cx, uint64_t ino);
void mapfile_settle(struct mapfiles *m);
struct mapfile *mapfile_find(const struct mapfiles *m, uint64_t ino);
void mapfile_fini(struct mapfiles *m);

/*
 * Whether block BLKOFF can be one of F, NEXT being one past the last sound
 * one: a directory may have lost its size, whose blocks follow one another.
 */
static inline bool mapfile_takes(const struct mapfile *f, uint64_t blkoff,
				 uint64_t next)
{
	return blkoff < f->limit || (f->is_dir && blkoff == next);
}

/* Walks the maps and fills in what is lost, and which of them are broken. */
int mapfile_look(struct mapfiles *m, struct context *cx);

#endif
