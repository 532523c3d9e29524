/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks with pointers of maps that are wrong, or may be. */
#ifndef NILFS2_FSCK_HOLDERS_H
#define NILFS2_FSCK_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "fsck/derive/pieces.h"

/*
 * A node, or the block of the ifile that has the inode.  The inode of an ifile
 * is in the entry of its checkpoint, which is no virtual block: VBLOCKNR is 0
 * then.
 */
struct holder {
	uint64_t ino;
	uint64_t cno;			/* a checkpoint that has it */
	uint64_t vblocknr, blocknr;
	struct lifetime life;
	bool is_inode;
	uint64_t blkoff;		/* of the ifile */
	/* Of a node: its level, the first key, and what keys stay below. */
	unsigned int level;
	uint64_t key, end;
	bool suspect;		/* nothing in it is seen to be wrong */
};

struct holders {
	const struct check *check;	/* its volume has the DAT */
	const struct pieces *pieces;
	bool logs_whole;
	struct holder *list;	/* by inode, once it is complete */
	size_t n, room;

	/* While the maps are walked. */
	uint64_t ino, cno;
	bool doubts;
	struct sparse seen;		/* nodes that were examined */
	struct vblocks vblocks[2];
};

/* Whether H is the entry of a checkpoint, with the inode of its ifile. */
static inline bool holder_is_entry(const struct holder *h)
{
	return h->is_inode && h->ino == NILFS_IFILE_INO;
}

/*
 * All zero but for CHECK, PIECES and LOGS_WHOLE.  -ENOMEM; holders_fini() in
 * any case.
 */
int holders_init(struct holders *s, struct context *cx);
void holders_fini(struct holders *s);

/*
 * Adds the wrong holders of the map of inode INO in checkpoint CNO; with DOUBTS
 * all of them as suspects where none is seen to be wrong.  Nodes that were seen
 * before are passed over.  -ENOMEM, -EINTR.
 */
int holders_add(struct holders *s, struct context *cx, uint64_t cno,
		uint64_t ino, bool doubts);

/* Sorts them: each once, what is below others in a map before these. */
void holders_settle(struct holders *s);

/*
 * Whether virtual block PTR can be what a holder that lives for LIFE points
 * to at KEY of LEVEL: 1 and its entry in *VB, 0, or a failure.
 */
int holders_judge(struct holders *s, struct context *cx, uint64_t ino,
		  const struct mapcheck_pointer *p, struct vblock *vb);

/*
 * Calls FOUND for each file of checkpoint CNO (0: the latest) with a pointer to
 * one of the N virtual blocks LIST, ascending.  -ENOMEM, -EINTR, or what FOUND
 * fails with.
 */
int holders_of(struct volume *vol, struct context *cx, uint64_t cno,
	       const uint64_t *list, size_t n,
	       int (*found)(void *arg, struct context *cx, uint64_t ino),
	       void *arg);

#endif
