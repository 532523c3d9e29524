/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whose maps are to be repaired. */
#ifndef NILFS2_FSCK_MAPFILE_H
#define NILFS2_FSCK_MAPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/vblocks.h"
#include "disk/ondisk.h"
#include "fsck/maps/maploss.h"
#include "fsck/plan/fixers.h"

enum mapsift_worth {
	MAPSIFT_SOUND,	/* the block is this file's and lives */
	MAPSIFT_SHARED,	/* it is unknown which of several pointers is right */
	MAPSIFT_LOST,	/* nothing is there, or another's */
};

struct mapsift_block {
	uint64_t blkoff, vblocknr;
	uint64_t blocknr;	/* unless it is lost */
	enum mapsift_worth worth;
};

/* Blocks and gaps come in the order of the file; 0, or a failure. */
struct mapsift {
	struct check *check;
	const struct contested *contested;
	uint64_t ino;
	int (*block)(void *arg, struct context *cx,
		     const struct mapsift_block *b);
	/* What there is from BLKOFF up to END cannot be determined. */
	int (*gap)(void *arg, struct context *cx, uint64_t blkoff,
		   uint64_t end);
	/* A live node of this file; NULL: not wanted. */
	int (*node)(void *arg, struct context *cx, uint64_t vblocknr);
	void *arg;

	struct vblocks vblocks[2];	/* its own: of data, of nodes */
};

/*
 * Walks the map of INODE, which has one.  0, -ENOMEM, -EINTR, or what one of
 * the calls failed with.
 */
int mapsift_run(struct mapsift *s, struct context *cx,
		const struct nilfs_inode *inode);

struct mapfile {
	uint64_t ino;
	struct nilfs_inode inode;	/* as the new checkpoint has it */
	uint64_t limit;			/* blocks that its size makes room for */
	uint64_t blocks;		/* sound ones, nodes among them */
	bool is_dir, is_link;
	bool broken;			/* its map must be rebuilt */
	bool doubtful;			/* it says that it has more blocks */
};

/* State of one repair of maps; all zero at first. */
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
