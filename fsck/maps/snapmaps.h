/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps of files in snapshots: which blocks of them are wrong, and what these
 * must have been.
 */
#ifndef NILFS2_FSCK_SNAPMAPS_H
#define NILFS2_FSCK_SNAPMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "fsck/fixers.h"
#include "fsck/maps/contested.h"

/* What a holder points to. */
struct snapmaps_child {
	uint64_t key, ptr;
	unsigned int level;
};

/*
 * What holds pointers of a map, and is wrong: a node, or the block of the ifile
 * that has the inode.  The inode of an ifile is in the entry of its checkpoint,
 * which is no virtual block: VBLOCKNR is 0 then.
 */
struct snapmaps_holder {
	uint64_t ino;
	uint64_t cno;			/* a snapshot that has it */
	uint64_t vblocknr, blocknr;
	struct lifetime life;
	bool is_inode;
	uint64_t blkoff;		/* of the ifile */
	/* Of a node: its level, the first key, and what keys stay below. */
	unsigned int level;
	uint64_t key, end;
	/* What the logs have for it. */
	struct snapmaps_child *children;
	size_t n, room;
	bool suspect;		/* nothing in it is seen to be wrong */
	bool done;
};

struct snapmaps {
	struct fixer_job *job;
	const struct contested *contested;
	bool logs_whole;
	/* Snapshots with an ifile that is wrong: where nothing in its map is
	   seen to be, all holders of that are suspect. */
	const uint64_t *doubted;
	size_t ndoubted;
	struct snapmaps_holder *list;	/* by inode, once it is complete */
	size_t n, room;

	/* While the maps are walked. */
	uint64_t ino, cno;
	bool doubts;			/* CNO is one of those */
	struct sparse seen;		/* nodes that were looked at */
	struct vblocks vblocks[2];
};

/* Whether H is the entry of a checkpoint, with the inode of its ifile. */
static inline bool snapmaps_is_entry(const struct snapmaps_holder *h)
{
	return h->is_inode && h->ino == NILFS_IFILE_INO;
}

/*
 * Lists the wrong holders of the maps of the N inodes INOS in all snapshots;
 * where INOS is NULL, those of the maps of their ifiles, and suspects.
 * -ENOMEM, -EINTR; snapmaps_fini() in any case.
 */
int snapmaps_list(struct snapmaps *s, struct context *cx, const uint64_t *inos,
		  size_t n);
void snapmaps_fini(struct snapmaps *s);

/*
 * Whether virtual block PTR can be what a holder that lives for LIFE points
 * to at KEY: 1 and its entry in *VB, 0, or a failure.
 */
int snapmaps_judge(struct snapmaps *s, struct context *cx,
		   const struct snapmaps_child *child,
		   const struct lifetime *life, struct vblock *vb);

#endif
