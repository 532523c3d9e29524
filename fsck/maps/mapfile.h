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
#include "fsck/plan/fixers.h"

/* A virtual block to which several pointers lead. */
struct contested {
	uint64_t vblocknr;
	/* The owner by the log. */
	bool known, is_node;
	uint64_t ino, blkoff;
};

struct mapfiles;

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
	const struct mapfiles *m;
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

/* A lost block. */
struct mapfile_point {
	uint64_t blkoff;
	uint64_t vblocknr;	/* as the pointer says; 0: there is none */
};

/* Blocks of which it is unknown whether there are any. */
struct mapfile_gap {
	uint64_t blkoff, end;
};

/* What there is for a block that the map has lost. */
struct mapfile_found {
	uint64_t blkoff;
	uint64_t vblocknr;	/* 0: the content is copied */
	uint64_t blocknr;	/* on the device */
	uint64_t cno;		/* the checkpoint that has it, 0: a log */
	uint64_t seq;		/* of the log's segment */
};

struct mapfile {
	uint64_t ino;
	struct nilfs_inode inode;	/* as the new checkpoint has it */
	uint64_t limit;			/* blocks that its size makes room for */
	uint64_t blocks;		/* sound ones, nodes among them */
	bool is_dir, is_link;
	bool broken;			/* its map must be rebuilt */
	bool doubtful;			/* it says that it has more blocks */
	struct mapfile_point *points;	/* ascending, as the gaps are */
	size_t npoints, points_room;
	struct mapfile_gap *gaps;
	size_t ngaps, gaps_room;
	struct mapfile_found *found;
	size_t nfound, found_room;
	size_t settled;			/* of these: ascending, each block once */
	uint64_t *nodes;		/* that live, by the logs: their numbers */
	size_t nnodes, nodes_room;
};

/* State of one repair of maps; all zero at first. */
struct mapfiles {
	struct fixer_job *job;
	struct mapfile *list;		/* by number, ascending */
	size_t n, room;
	struct contested *contested;	/* ascending */
	size_t ncontested, contested_room;
	bool logs_whole;		/* a block that lives is in some log */
};

/* Adds inode INO; mapfile_settle() comes before any question.  -ENOMEM. */
int mapfile_add(struct mapfiles *m, struct context *cx, uint64_t ino);
void mapfile_settle(struct mapfiles *m);
struct mapfile *mapfile_find(const struct mapfiles *m, uint64_t ino);
void mapfile_fini(struct mapfiles *m);

/* Adds VBLOCKNR; contested_settle() comes before any question.  -ENOMEM. */
int contested_add(struct mapfiles *m, struct context *cx, uint64_t vblocknr);
void contested_settle(struct mapfiles *m);

/* The block VBLOCKNR, or NULL if it is not contested. */
struct contested *contested_find(const struct mapfiles *m, uint64_t vblocknr);

/*
 * True where B is that of the pointer of inode INO to block BLKOFF, or to a
 * node where LEVEL is not 0.
 */
static inline bool contested_is_of(const struct contested *b, uint64_t ino,
				   uint64_t blkoff, unsigned int level)
{
	return b->known && b->ino == ino && b->is_node == (level > 0) &&
	       (level || b->blkoff == blkoff);
}

/* What was found for block BLKOFF, of what is settled, or NULL. */
const struct mapfile_found *mapfile_found(const struct mapfile *f,
					  uint64_t blkoff);

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

/*
 * Finds in the logs whose the contested blocks are; and, for each file, what
 * they have of what is lost, and the nodes of broken maps.  0, -ENOMEM, -EINTR.
 */
int mapsearch_owners(struct mapfiles *m, struct context *cx);
int mapsearch_logs(struct mapfiles *m, struct context *cx);

/*
 * Finds what older checkpoints have, the newest first, of what is lost and the
 * logs have not.  0, -ENOMEM, -EINTR.
 */
int mapsearch_older(struct mapfiles *m, struct context *cx);

/*
 * Gives F, which is broken, a new map in the writer's checkpoint, of what is
 * sound of the old one and what was found; notes what became of it, and ends
 * the blocks that it has no longer.  A symbolic link whose target is lost is
 * removed.  -ENOSPC, -ENOMEM, -EIO.
 */
int maprebuild_run(struct mapfiles *m, struct context *cx, struct mapfile *f);

#endif
