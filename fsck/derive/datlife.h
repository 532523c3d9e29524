/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which checkpoints have a block, what leads to it: its entry in the DAT. */
#ifndef NILFS2_FSCK_DATLIFE_H
#define NILFS2_FSCK_DATLIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/numlist.h"
#include "base/sparse.h"
#include "check/check.h"
#include "check/logs/listings.h"
#include "fsck/plan/fixers.h"
#include "vol/blockmap.h"
#include "vol/volume.h"

struct datlife {
	struct volume *vol;
	uint64_t *cnos;		/* valid checkpoints, ascending */
	size_t n;
	bool known;		/* they could be listed */
};

/* From START up to, not including, END, or any checkpoint up to MOST. */
struct datlife_span {
	uint64_t start, end, most;
	uint64_t held;	/* it ended not before that; 0: not known */
};

/*
 * The life of the block that L lists, where L says that it is: from when it was
 * written to the last checkpoint that has it, but not later than MOST, as it
 * may have ended with one that is gone.  START equals END where none has it.
 * 1, 0 where that cannot be determined, -ENOMEM, -EINTR.
 */
int datlife_find(struct datlife *d, struct context *cx, const struct listing *l,
		 struct datlife_span *span);

/*
 * The map of inode INO in checkpoint CNO (0: the latest); of cpfile and SUFILE
 * there is one only.  1, 0 where the checkpoint has no such inode, a failure.
 */
int datlife_map(struct volume *vol, struct context *cx, uint64_t cno,
		uint64_t ino, struct blockmap *map);

/* The pointer at a place of a map: 1 and *PTR, 0 where it has none, a
   failure. */
int datlife_pointer(struct volume *vol, struct context *cx,
		    const struct place *at, uint64_t *ptr);

/*
 * Whether FILE, the cpfile or the SUFILE, has all blocks where the logs list
 * them last: 1, 0, or -ENOMEM, -EINTR.  An older map of it looks sound.
 */
int datlife_is_newest(const struct check *c, struct context *cx,
		      struct file *file);

/*
 * Makes SET, all zero at first, that of the virtual blocks whose lives findings
 * of PLAN contradict: blocks that do not live as long as the pointer to them,
 * and all that holds that pointer.  Where the map of the cpfile is an older
 * one, or that of a file lacks blocks, its pointers are what is wrong.
 * -ENOMEM, -EINTR; sparse_fini() in any case.
 */
int datlife_contradicted(struct sparse *set, struct context *cx,
			 const struct check *c, const struct plan *plan);

/*
 * Adds to FILES each file of checkpoint CNO (0: the latest) with a pointer to
 * one of WANTED.  -ENOMEM, -EINTR.
 */
int datlife_files(struct volume *vol, struct context *cx, uint64_t cno,
		  const struct numlist *wanted, struct numlist *files);

/* Of blocks that several entries name, or one and the map of the DAT, whose each
   of them is.  Ascending; all zero at first. */
struct datlife_owners {
	struct datlife_owner {
		uint64_t blocknr;	/* first: they are sorted by it */
		uint64_t number;	/* 0: the DAT itself */
		uint64_t rank;
	} *list;			/* to be freed with free() */
	size_t n, room;
};

/*
 * Finds the owners of the blocks that findings of PLAN say are claimed twice:
 * the map of the DAT, or the entry that a pointer leads to, or else the one that
 * was written last.  -ENOMEM, -EINTR.
 */
int datlife_find_owners(struct datlife_owners *o, struct context *cx,
			const struct check *c, const struct plan *plan);

/* Whether BLOCKNR, which entry NUMBER names, is another's. */
bool datlife_is_others(const struct datlife_owners *o, uint64_t blocknr,
		       uint64_t number);

#endif
