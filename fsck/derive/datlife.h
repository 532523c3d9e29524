/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lifetime of virtual blocks, for their entries in the DAT: the checkpoints
   that have a block, and the pointers to it. */
#ifndef NILFS2_FSCK_DATLIFE_H
#define NILFS2_FSCK_DATLIFE_H

#include "check/logs/listings.h"
#include "fsck/plan/fixers.h"

struct datlife {
	struct volume *vol;
	uint64_t *cnos;		/* valid checkpoints, ascending */
	size_t n;
	bool known;		/* the checkpoints could be listed */
};

/* A lifetime from START to before END; the end may be any checkpoint up to
   MOST. */
struct datlife_span {
	uint64_t start, end, most;
	uint64_t held;	/* the earliest possible end; 0: not known */
};

/*
 * Finds the lifetime of the block of L at the place in L: from its log to the
 * last checkpoint that has it, but not later than MOST, because the lifetime
 * may have ended with a removed checkpoint. START equals END if no checkpoint
 * has it. 1, 0 if not known, -ENOMEM, -EINTR.
 */
int datlife_find(struct datlife *d, struct context *cx, const struct listing *l,
		 struct datlife_span *span);

/* The map of inode INO in checkpoint CNO (0: the latest); cpfile and SUFILE
   have only one. 1, 0 if the checkpoint has no such inode, a failure. */
int datlife_map(struct volume *vol, struct context *cx, uint64_t cno,
		uint64_t ino, struct blockmap *map);

/* The pointer at a place of a map: 1 and *PTR, 0 if the place is empty, a
   failure. */
int datlife_pointer(struct volume *vol, struct context *cx,
		    const struct place *at, uint64_t *ptr);

/* Whether FILE, the cpfile or the SUFILE, has all blocks at their newest
   listings: 1, 0, or -ENOMEM, -EINTR. An older map of it looks sound. */
int datlife_is_newest(const struct check *c, struct context *cx,
		      struct file *file);

/*
 * Collects in SET, all zero at first, the virtual blocks whose lifetimes
 * findings of PLAN contradict: blocks whose lifetime is shorter than that of a
 * pointer to them, and all parents of that pointer. Pointers of an old map of
 * the cpfile, or of a file map that lacks blocks, are wrong themselves.
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

/* The owners of blocks that several entries name, or an entry and the map of
   the DAT. Ascending; all zero at first. */
struct datlife_owners {
	struct datlife_owner {
		uint64_t blocknr;	/* first: the sort key */
		uint64_t number;	/* 0: the DAT itself */
		uint64_t rank;
	} *list;			/* to be freed with free() */
	size_t n, room;
};

/*
 * Finds the owners of the blocks that are claimed twice by findings of PLAN:
 * the map of the DAT, or the entry that a pointer leads to, or else the entry
 * that was written last. -ENOMEM, -EINTR.
 */
int datlife_find_owners(struct datlife_owners *o, struct context *cx,
			const struct check *c, const struct plan *plan);

/* Whether BLOCKNR, which entry NUMBER names, belongs to another entry. */
bool datlife_is_of_other_file(const struct datlife_owners *o, uint64_t blocknr,
			      uint64_t number);

/* Pointers to data blocks whose numbers are free. Ascending; all zero at first. */
struct datlife_pointers {
	struct datlife_pointer {
		uint64_t number, ino, blkoff;
	} *list;			/* to be freed with free() */
	size_t n, room;
};

/* Finds the pointers to free numbers by the findings of PLAN. -ENOMEM. */
int datlife_find_pointers(struct datlife_pointers *p, struct context *cx,
			  const struct plan *plan);

/* Whether a file has the block of L where its log says, so that the number cannot
   be free. */
bool datlife_is_pointed(const struct datlife_pointers *p,
			const struct listing *l);

#endif
