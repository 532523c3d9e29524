/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewriting a directory in a repair of names. */
#ifndef NILFS2_FSCK_DIRWRITE_H
#define NILFS2_FSCK_DIRWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/blockbatch.h"
#include "check/names/dupnames.h"
#include "check/names/keptnames.h"
#include "check/names/nameset.h"
#include "disk/dirpack.h"
#include "fsck/names/namefix.h"

struct namefix;
struct remap;

struct dirwrite {
	struct namefix *f;
	struct remap *remap;
	size_t dir;		/* index */
	uint64_t ino, parent;
	bool refused;		/* its types, "." and ".." stay as they are */
	uint64_t out;		/* blocks of the new directory so far */
	bool begun;		/* the first of them is being packed, or was */
	struct dirpack pack;
	uint8_t *block;		/* that is being packed */
	struct blockbatch_item from;	/* what it is made from; vblocknr 0:
					   nothing */
	bool same;		/* it would be what that was */
	bool in_place;		/* it is written though empty */
	const struct addnames_item *adds;	/* still to be added */
	size_t nadds;
	/* Names that may be there twice, and all. */
	struct dupnames_suspect *suspects;
	size_t nsuspects;
	struct keptnames kept;
	struct nameset tags;
	bool tags_known;
};

/*
 * Writes directory number DIR: what can be read of it and stays, and what is
 * added to it.  -ENOSPC, -ENOMEM, -EINTR, -EIO.
 */
int dirwrite_run(struct namefix *f, struct context *cx, size_t dir);

/* Writes the lost+found directory that this repair makes. */
int dirwrite_make(struct namefix *f, struct context *cx);

/*
 * Begins a block, made from block FROM of the directory as it was (NULL: of
 * nothing), and ends the one before.  -ENOSPC, -ENOMEM, -EIO.
 */
int dirwrite_begin_block(struct dirwrite *w, struct context *cx,
			 const struct blockbatch_item *from);

/* Adds an entry, to another block where this one is full.  Fails as above. */
int dirwrite_emit(struct dirwrite *w, struct context *cx, uint64_t ino,
		  uint8_t type, const char *name, uint8_t len);

/*
 * The same for a name that is new; one that the directory has already is
 * changed.
 */
int dirwrite_add_new(struct dirwrite *w, struct context *cx, uint64_t ino,
		     uint8_t type, const char *name, uint8_t len);

/* The tags of all its names, NULL where they are not known. */
struct nameset *dirwrite_tags(struct dirwrite *w);

#endif
